"""Carry out an estimator's recipe; store the estimator and the outcome."""

import zipfile
from pathlib import Path
from typing import Any

from decaf.errors import WriteFailed
from decaf.foundation.files import convert_os_errors, replace_file
from decaf.models.estimators.boosters import declare_missing
from decaf.models.recipes.base import EstimatorRecipe
from decaf.models.training.files import store_outcome

SKOPS = ".skops"


def fit_estimator(recipe: EstimatorRecipe, target: Path) -> None:
    """Fit by a recipe of :mod:`decaf.models.recipes`, unless its file exists.

    The outcome is written first, so that every stored estimator has one. Raises WriteFailed
    when the disk cannot be written.
    """
    if target.exists():
        return
    estimator, outcome = recipe.fit()
    remedy = "free some space, or set 'workspace:' to another folder"
    with convert_os_errors(WriteFailed, f"estimator {target} cannot be written", remedy):
        store_outcome(target, outcome._asdict())
        replace_file(target, lambda temporary: _save(estimator, target.suffix, temporary))


def _save(estimator: Any, suffix: str, path: Path) -> None:
    """Write without pickling: skops, compressed, since forests are large; or XGBoost's own."""
    if suffix == SKOPS:
        import skops.io

        skops.io.dump(estimator, path, compression=zipfile.ZIP_DEFLATED)
    else:
        booster = estimator.get_booster()
        declare_missing(booster, estimator.missing)
        path.write_bytes(booster.save_raw(suffix.removeprefix(".")))
