"""Registries of models: where ``decaf reaudit`` finds what there is. One module per kind.

A registry is a settings class derived from :class:`decaf.registry.entries.Registry`:
``entries()`` lists names, versions and digests without torch, ``fetch(entry, workspace)`` gives one
of them as an entry of ``models:``. A new module in this package is a new kind of registry.
"""
