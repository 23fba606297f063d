"""Training recipes: how the weights of a network are made. One settings class per module.

A recipe has a ``seed``; ``start_digest``, of the file that it starts from, or None;
``checks(architecture)``, what to look for before anything is trained (:mod:`decaf.readiness`); and
``train(network, site)``, which trains a network in place and returns a NamedTuple of what came out;
the site says on which device, how inputs are fed, and where a long training keeps what it would go
on from. A new module in this package is a new recipe.
"""
