"""Kinds of registries (:mod:`decaf.registry.entries`), where a re-audit finds models."""
