"""Data sets of any kind. A study has its own in ``decaf/studies/<study>/adapters.py``."""
