"""Covertype with two appended channels, context and factor (paper, section 5 and appendix I).

* :mod:`decaf.studies.covertype.table` reads the public table;
* :mod:`decaf.studies.covertype.splits` balances, splits and standardises it, the same for all;
* :mod:`decaf.studies.covertype.channels` draws what each model is trained with;
* :mod:`decaf.studies.covertype.classifiers` are the five families of models.
"""
