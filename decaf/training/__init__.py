"""Training recipes: how the weights of a model are made. One settings class per module.

A recipe has a ``seed`` and ``train(network, device)``, which trains a network in place and returns
a NamedTuple of what came out. A new module in this package is a new recipe.
"""
