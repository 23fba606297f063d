"""Training recipes. A study has its own in ``decaf/studies/<study>/recipes.py``."""
