"""Import libraries of explanations without the warnings of their own imports."""

import importlib
import logging
import warnings
from types import ModuleType


def quiet_import(name: str) -> ModuleType:
    """Import a module of a library; what it warns of is its own to mend."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        module = importlib.import_module(name)
    logging.getLogger("shap").setLevel(logging.ERROR)  # it advises on budgets, which are settings
    return module
