"""Open estimator files: scikit-learn's through skops, XGBoost's own."""

import json
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, NamedTuple, get_args

import numpy as np
from numpy.typing import NDArray

from decaf.errors import ModelError
from decaf.models.card import Output

if TYPE_CHECKING:
    from decaf.models.sources.estimator import EstimatorCard

Method = Literal["predict_proba", "decision_function", "predict"]

BINARY, MULTICLASS = "binary:logistic", "multi:softprob"
"""XGBoost's objectives whose predictions are probabilities."""


class Opened(NamedTuple):
    """What an estimator file gives."""

    answer: Callable[[NDArray[np.float32]], Any]
    output: Output
    order: list[int] | None
    """Column of every class of the study; None when there is nothing to put in order."""
    estimator: Any
    """What was opened: scikit-learn's estimator, or XGBoost's booster."""

    def in_order(self, found: Any) -> NDArray:
        """Columns of an answer in the order of the study's classes.

        Raises
        ------
        ValueError
            When there is not one column for each class (an SVC of one against one, for example).
        """
        found = np.asarray(found)
        if self.order is None:
            return found
        if found.ndim != 2 or found.shape[1] != len(self.order):
            raise ValueError(f"it gave shape {found.shape} for {len(self.order)} classes")
        return found[:, self.order]


def open_skops(card: "EstimatorCard", path: Path) -> Opened:
    """Open a scikit-learn estimator, if all types in its file are trusted.

    Raises
    ------
    ModelError
        Naming the types that are not, the methods that there are, or the classes.
    """
    estimator = _load_skops(card, path)
    if not hasattr(estimator, card.method):
        usable = [name for name in get_args(Method) if hasattr(estimator, name)]
        raise ModelError(
            f"model {card.id}: {type(estimator).__name__} has no {card.method}; it has "
            f"{', '.join(usable) or 'none of the methods'}: correct 'method:'"
        )
    answer = getattr(estimator, card.method)
    names = np.asarray(getattr(estimator, "classes_", [])).tolist()
    if card.method == "predict_proba":
        return Opened(answer, "probabilities", _order(card, names), estimator)
    # Two classes have one decision value: how far the second is ahead.
    if card.method == "decision_function" and len(names) > 2:
        return Opened(answer, "logits", _order(card, names), estimator)
    return Opened(answer, "value", None, estimator)


def open_xgboost(card: "EstimatorCard", path: Path) -> Opened:
    """Open an XGBoost model; it predicts with its best iteration, as XGBoost's own classes do.

    Raises
    ------
    ModelError
        When the file is damaged, or its objective does not give what the card asks for.
    """
    import xgboost

    try:
        booster = xgboost.Booster(model_file=path)
        learner = json.loads(booster.save_config())["learner"]
        objective = learner["objective"]["name"]
    except (ValueError, KeyError) as error:
        raise ModelError(
            f"model {card.id}: {path} is no XGBoost model ({str(error).splitlines()[0]}); "
            "save it again with save_model"
        ) from error
    _check_objective(card, path, objective)
    best = booster.attr("best_iteration")
    rounds = (0, 0 if best is None else int(best) + 1)
    kind = "margin" if card.method == "decision_function" else "value"
    has_two = card.method == "predict_proba" and objective == BINARY

    def answer(rows: NDArray[np.float32]) -> NDArray[np.float32]:
        found = booster.inplace_predict(rows, iteration_range=rounds, predict_type=kind)
        return np.stack([1 - found, found], axis=1) if has_two else found

    if card.method != "predict_proba" and not objective.startswith("multi:"):
        return Opened(answer, "value", None, booster)
    class_count = 2 if has_two else int(learner["learner_model_param"]["num_class"])
    output = "probabilities" if card.method == "predict_proba" else "logits"
    return Opened(answer, output, _order(card, list(range(class_count))), booster)


def _load_skops(card: "EstimatorCard", path: Path) -> Any:
    import skops.io

    try:
        untrusted = set(skops.io.get_untrusted_types(file=path)) - set(card.known_types)
        if untrusted:
            names = ", ".join(sorted(untrusted))
            raise ModelError(
                f"model {card.id}: {path} holds types that skops does not know to be "
                f"harmless: {names}. If you trust them, list them: 'trusted: [{names}]'"
            )
        return skops.io.load(path, trusted=list(card.known_types))
    # What a damaged file, another version or a missing module leads to is not skops' to say.
    except (
        *(OSError, LookupError, ValueError, TypeError, AttributeError, ImportError),
        zipfile.BadZipFile,
    ) as error:
        raise ModelError(
            f"model {card.id}: {path} cannot be opened: {type(error).__name__}: {error}; save "
            "it again with skops.io.dump, and with the versions that are installed here"
        ) from error


def _order(card: "EstimatorCard", names: list[Any]) -> list[int]:
    """Column of every class of the study, given the estimator's names of its columns."""
    wanted = list(range(len(names)) if card.classes is None else card.classes)
    if len(wanted) != len(names) or not all(name in names for name in wanted):
        raise ModelError(
            f"model {card.id}: the estimator calls its classes {names}; expected {wanted}: give "
            "'classes:', its names of the study's classes 0, 1, …"
        )
    return [names.index(name) for name in wanted]


def _check_objective(card: "EstimatorCard", path: Path, objective: str) -> None:
    if card.method == "predict_proba" and objective not in (BINARY, MULTICLASS):
        raise ModelError(
            f"model {card.id}: {path} was trained for {objective}, which has no "
            "probabilities: use 'method: predict' or 'method: decision_function'"
        )
    if card.method == "predict" and objective.startswith(("binary:", "multi:")):
        raise ModelError(
            f"model {card.id}: {path} was trained for {objective}, which predicts classes: "
            "use 'method: predict_proba' or 'method: decision_function'"
        )
