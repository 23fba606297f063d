"""Recipes that fit estimators. One settings class per module.

A recipe says what it makes (``origin``), of what kind its file is (``suffix``) and which types
that file may hold beyond those that skops knows (``trusted``); ``fit()`` returns a fitted
estimator and a NamedTuple of what came out; ``completed()`` adds what an outcome of an earlier
version lacks. A new module in this package is a new recipe; those of networks are in
``decaf.training``.
"""
