"""Carry out an estimator's recipe and keep what it leaves: the estimator, and its outcome."""

import json
import zipfile
from pathlib import Path
from typing import Any

from decaf.errors import WriteFailed
from decaf.foundation.files import replace_file
from decaf.foundation.settings import Settings

SKOPS = ".skops"


def fit_estimator(recipe: Settings, target: Path) -> None:
    """Fit by a recipe of :mod:`decaf.models.recipes`, unless its file is there.

    The outcome is written first, so that an estimator that is there has one.

    Raises
    ------
    WriteFailed
        When the disk refuses.
    """
    if target.exists():
        return
    estimator, outcome = recipe.fit()
    text = json.dumps(outcome._asdict())
    try:
        replace_file(_outcome_file(target), lambda temporary: temporary.write_text(text))
        replace_file(target, lambda temporary: _save(estimator, target.suffix, temporary))
    except OSError as error:
        raise WriteFailed(
            f"estimator {target} cannot be written: {error.strerror}; free some space, or set "
            "'workspace:' to another folder"
        ) from error


def read_outcome(path: Path) -> dict[str, Any] | None:
    """What came out of the fit that made a file; None when it was not made here."""
    file = _outcome_file(path)
    return json.loads(file.read_text()) if file.exists() else None


def _outcome_file(target: Path) -> Path:
    return target.with_name(f"{target.name}.outcome.json")


def _save(estimator: Any, suffix: str, path: Path) -> None:
    """Write without pickling: skops, compressed, since forests are large; or XGBoost's own."""
    if suffix == SKOPS:
        import skops.io

        skops.io.dump(estimator, path, compression=zipfile.ZIP_DEFLATED)
    else:
        path.write_bytes(estimator.get_booster().save_raw(suffix.removeprefix(".")))
