"""Covertype with two appended channels, context and factor (paper, section 5 and appendix I).

* :mod:`decaf.covertype.table` reads the public table;
* :mod:`decaf.covertype.splits` balances, splits and standardises it, the same for all models;
* :mod:`decaf.covertype.channels` draws what each model is trained with;
* :mod:`decaf.covertype.classifiers` are the five families of models.
"""
