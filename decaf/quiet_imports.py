"""Import libraries of explanations without what they warn of while they are imported."""

import importlib
import logging
import warnings
from types import ModuleType


def quiet_import(name: str) -> ModuleType:
    """Import a module; deprecations inside of other people's code are nobody's concern here."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        module = importlib.import_module(name)
    logging.getLogger("shap").setLevel(logging.ERROR)  # it advises on budgets, which are settings
    return module
