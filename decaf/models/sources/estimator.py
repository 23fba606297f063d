"""An estimator of scikit-learn or XGBoost, from a file that runs no code when it is opened."""

import zipfile
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Annotated, Any, ClassVar, Literal, cast, get_args

import numpy as np
from numpy.typing import NDArray
from pydantic import Field, model_validator

from decaf.data.frame_libraries import Frame
from decaf.errors import ModelError
from decaf.foundation.digests import file_sha256, json_sha256
from decaf.foundation.extras import Installed
from decaf.foundation.files import convert_os_errors, open_file
from decaf.foundation.plugins import OneOf
from decaf.foundation.readiness import Check
from decaf.foundation.settings import PlacedPath, fault, require_keys
from decaf.models.array_model import ArrayModel
from decaf.models.card import Model, Output
from decaf.models.estimators.boosters import (
    describe_booster,
    make_predictor,
    note_version,
    open_booster,
)
from decaf.models.estimators.class_order import order_classes
from decaf.models.estimators.column_names import fitted_columns
from decaf.models.estimators.files import (
    SKOPS_SCHEMA,
    Stored,
    compare_versions,
    describe_content,
    explain_by_version,
    list_untrusted_types,
    open_pickle,
    open_skops,
    own_code,
    saved_version,
)
from decaf.models.estimators.missing import MissingValue, set_missing
from decaf.models.estimators.opened import TWO, Opened
from decaf.models.estimators.targets import count_targets, several_targets
from decaf.models.recipes.base import EstimatorRecipe
from decaf.models.trainable import TrainableCard
from decaf.models.training.estimator import SKOPS, fit_estimator

Fitting = Annotated[EstimatorRecipe, OneOf(EstimatorRecipe)]
Method = Literal["predict_proba", "decision_function", "predict"]

BINARY, MULTICLASS = "binary:logistic", "multi:softprob"
"""XGBoost's objectives whose predictions are probabilities."""
LOGISTIC = (BINARY, "binary:logitraw")
"""XGBoost's objectives whose margin is a logit of two classes."""

XGBOOST = (".ubj", ".json")
BY_POSITION = "by_position"
PICKLE_START = b"\x80"
"""First byte of a pickle, from protocol 2 on."""
FORMATS = (
    ".skops, written by skops.io.dump(estimator, path), or .json or .ubj, written by XGBoost's "
    "save_model(path)"
)
PREDICTS_LABELS = (
    "its method 'predict' returns labels of classes, which do not show how far a change moves the "
    "model: write 'method: predict_proba', and a score of classes"
)
"""Remark on a classifier; a view compares stored remarks with it, so its beginning stays."""
LONGEST_END = 16
"""Bytes at the end of a file that are searched for its last character."""


class EstimatorCard(TrainableCard):
    """A scikit-learn estimator saved by skops, or an XGBoost model in its own format.

    It gets rows of numbers; images are flattened channel by channel, row by row. If it was fitted
    on a data frame, and the data are a table, it gets frames with its columns.
    """

    has_gradients: ClassVar = False
    source: Literal["estimator"]
    file: PlacedPath | None = Field(
        None,
        description="`.skops` file (scikit-learn), `.json` or `.ubj` file (XGBoost), or, with "
        "`unpickle: true`, a file of pickle or joblib (`.pkl`, `.joblib`)",
    )
    unpickle: bool = Field(
        False,
        description="open a file of pickle or joblib, which can run any code with your rights; "
        "for an entry of a registry, also list its name under `trust:`",
    )
    training: Fitting | None = Field(
        None, description="recipe that fits the estimator, if there is no file"
    )
    sha256: str | None = Field(None, description="expected digest of the file")
    method: Method = Field(
        "predict_proba",
        description="method to call: `predict_proba` gives probabilities; `decision_function` "
        "logits, or one value if there are two classes or none; `predict` one value",
    )
    classes: tuple[bool | int | str, ...] | None = Field(
        None,
        description="the estimator's names of the study's classes 0, 1, …, as `[false, true]` or "
        "`[cat, dog]`; required unless they are 0, 1, …",
    )
    output: Literal["logits"] | None = Field(
        None,
        description="`logits`: the `decision_function` of two classes is a logit, as scores of "
        "classes need; when absent, it is a `value`",
    )
    trusted: tuple[str, ...] = Field(
        (),
        description="types in a skops file that you trust, in addition to those that skops knows",
    )
    missing: MissingValue = Field(
        None,
        description="value that counts as missing, in addition to NaN, for an XGBoost model: the "
        "`missing` of its fit, which XGBoost's file does not contain; `nan` for none",
    )
    columns: Literal["by_name", "by_position"] = Field(
        "by_name",
        description="`by_position`: take the table's columns in their order, if the estimator was "
        "fitted on other names",
    )

    @model_validator(mode="after")
    def _one_source(self) -> "EstimatorCard":
        if (self.file is None) == (self.training is None):
            raise fault("give exactly one of 'file' and 'training' (a recipe)")
        is_pickle = self.file is not None and self.file.suffix not in (SKOPS, *XGBOOST)
        needed = "a file of pickle or joblib in 'file:'"
        has_logits = self.output is None or self.method == "decision_function"
        require_keys(
            [
                ("unpickle", not self.unpickle or is_pickle, needed),
                ("output", has_logits, "'method: decision_function'"),
            ]
        )
        return self

    @property
    def origin(self) -> str:
        """Name of the file, or of the recipe and its estimator."""
        return (
            f"estimator:{self.training.origin if self.training else cast('Path', self.file).name}"
        )

    @property
    def known_types(self) -> tuple[str, ...]:
        """Types that may be in a skops file: types on the card, and types that its recipe makes."""
        return (*self.trusted, *(self.training.trusted_types if self.training else ()))

    @property
    def libraries(self) -> tuple[str, ...]:
        """Libraries that open the file."""
        suffix = self.trained_suffix if self.file is None else self.file.suffix
        if suffix in XGBOOST:
            return ("xgboost",)
        # skops looks for the module of each ufunc in all modules, in the order of their import.
        return ("sklearn",) if self.unpickle else ("scipy.special", "skops.io")

    @property
    def preprocessing_digest(self) -> str:
        """Digest of the method, the order of classes, and rarely set keys."""
        seldom = self.model_dump(include={"missing", "columns", "output"}, exclude_defaults=True)
        return json_sha256(["estimator", self.method, self.classes, *([seldom] if seldom else [])])

    def weights_digest(self) -> str:
        """Digest of the file, whose kind is checked, and of own modules that it needs."""
        path = self._checked_file()
        digest = self._check_file_digest(path, self.sha256)
        modules = [] if path.suffix in XGBOOST else own_code(path)
        return json_sha256([digest, *map(file_sha256, modules)]) if modules else digest

    def load(self, device: str) -> Model:
        """Open the file; estimators always run on the CPU."""
        path = self._checked_file()
        with self._of_model():
            opened = (_open_xgboost if path.suffix in XGBOOST else _open_sklearn)(self, path)
        name = f"model {self.id}, {self.method} of {path}"

        def answer(inputs: NDArray[np.float32] | Frame) -> NDArray[Any]:
            is_array = isinstance(inputs, np.ndarray)
            rows = inputs.reshape(len(inputs), -1) if is_array else inputs
            try:
                return opened.in_order(opened.answer(rows))
            except ValueError as error:
                versions = compare_versions(saved_version(path))
                raise ValueError(f"{error} ({versions})" if versions else str(error)) from error
            except Exception as error:
                if reason := explain_by_version(path, error):
                    raise ModelError(f"model {self.id}: {reason}") from error
                raise

        versions = compare_versions(opened.version)
        remarks = [f"{versions}: check that its predictions have not changed"] if versions else []
        if self.method == "predict" and hasattr(opened.estimator, "classes_"):
            remarks.append(PREDICTS_LABELS)
        return ArrayModel(
            answer,
            opened.output,
            name,
            opened.estimator,
            opened.frame_columns,
            by_position=self.columns == BY_POSITION,
            remarks=tuple(remarks),
        )

    @property
    def trained_suffix(self) -> str:
        """Suffix of the file of the recipe."""
        return cast("EstimatorRecipe", self.training).suffix

    def train(self, file: Path, device: str) -> None:
        """Fit by the recipe, always on the CPU; the outcome lies next to the file."""
        fit_estimator(cast("EstimatorRecipe", self.training), file)

    def checks(self) -> tuple[Check, ...]:
        """Checks of the training's needs, or of the file; and of XGBoost for its own files."""
        suffix = self.trained_suffix if self.file is None else self.file.suffix
        needed = (Installed("xgboost"),) if suffix in XGBOOST else ()
        return (*super().checks(), *needed)

    @contextmanager
    def _of_model(self) -> Iterator[None]:
        """Name the model in errors about its file."""
        try:
            yield
        except ModelError as error:
            error.args = (f"model {self.id}: {error}",)
            raise

    def _checked_file(self) -> Path:
        path = self.trained_file if self.file is None else self.file
        _check_header(path, may_unpickle=self.unpickle)
        return path


def _open_sklearn(card: EstimatorCard, path: Path) -> Opened:
    """Open a scikit-learn estimator if all types in its file, or the file itself, are trusted."""
    estimator, version = open_pickle(path) if card.unpickle else _load_skops(card, path)
    if hasattr(estimator, "inplace_predict"):  # a booster that was pickled itself
        note_version(estimator, path)
        return _open_booster(card, path, estimator)
    set_missing(estimator, card.missing)
    note_version(estimator, path)
    _refuse_several_targets(estimator, path)
    if not hasattr(estimator, card.method):
        usable = [name for name in get_args(Method) if hasattr(estimator, name)]
        remedy = "correct 'method:'" if usable else "store only a fitted estimator in it"
        raise ModelError(
            f"{describe_content(estimator)} has no {card.method}; it has "
            f"{', '.join(usable) or 'none of the methods'}: {remedy}"
        )
    answer = getattr(estimator, card.method)
    names = np.asarray(getattr(estimator, "classes_", [])).tolist()
    columns = fitted_columns(estimator)
    if card.method == "predict_proba":
        return Opened(
            answer, "probabilities", order_classes(names, card.classes), estimator, columns, version
        )
    # Two classes have one decision value, which is positive for the second class.
    if card.method == "decision_function" and len(names) > (1 if card.output else TWO):
        return Opened(
            answer, "logits", order_classes(names, card.classes), estimator, columns, version
        )
    _refuse_logits(card, path)
    return Opened(answer, "value", None, estimator, columns, version)


def _refuse_logits(card: EstimatorCard, path: Path) -> None:
    if card.output:
        raise ModelError(
            f"the decision_function of {path} returns no class scores: remove 'output:' to audit "
            "it as a number"
        )


def _refuse_several_targets(estimator: Any, path: Path) -> None:
    if count := count_targets(estimator):
        kind = f"{path} is a {type(estimator).__name__}"
        raise ModelError(f"{kind}: {several_targets(count)}")


def _open_xgboost(card: EstimatorCard, path: Path) -> Opened:
    """Open an XGBoost model; it predicts with its best iteration, as XGBoost's own classes do."""
    return _open_booster(card, path, open_booster(path))


def _open_booster(card: EstimatorCard, path: Path, booster: Any) -> Opened:
    objective, class_count, target_count, _ = describe_booster(booster)
    if target_count > 1:
        raise ModelError(f"{path}: {several_targets(target_count)}")
    _check_objective(card, path, objective)
    set_missing(booster, card.missing)
    columns = booster.feature_names
    predict = make_predictor(booster, "margin" if card.method == "decision_function" else "value")
    has_two = card.method == "predict_proba" and objective == BINARY

    def answer(rows: NDArray[np.float32] | Frame) -> NDArray[np.float32]:
        predicted = predict(rows)
        return np.stack([1 - predicted, predicted], axis=1) if has_two else predicted

    if card.output and objective in LOGISTIC:
        return Opened(answer, "logits", order_classes([0, 1], card.classes), booster, columns)
    if card.method != "predict_proba" and not objective.startswith("multi:"):
        _refuse_logits(card, path)
        return Opened(answer, "value", None, booster, columns)
    output: Output = "probabilities" if card.method == "predict_proba" else "logits"
    order = order_classes(list(range(2 if has_two else class_count)), card.classes)
    return Opened(answer, output, order, booster, columns)


def keys_of(path: Path) -> dict[str, Any]:
    """Keys of a card that follow from an estimator's file, without running code in the file.

    A skops file with types that skops does not know stays closed: the keys then have ``trusted``
    and no ``method``. They have ``classes`` if these differ from 0, 1, …. Raises ModelError
    when the file cannot be opened.
    """
    _check_header(path, may_unpickle=False)
    card = EstimatorCard(id="entry", family="entry", source="estimator", file=path)
    if path.suffix in XGBOOST:
        for method in ("predict_proba", "predict"):
            with suppress(ModelError):
                _open_xgboost(card.model_copy(update={"method": method}), path)
                return {"method": method}
        _open_xgboost(card.model_copy(update={"method": "decision_function"}), path)
        return {"method": "decision_function"}
    if untrusted := list_untrusted_types(path, card.known_types):
        return {"trusted": untrusted}
    estimator = _load_skops(card, path).content
    _refuse_several_targets(estimator, path)
    names = np.asarray(getattr(estimator, "classes_", [])).tolist()
    class_keys = {"classes": names} if names != list(range(len(names))) else {}
    return {
        "method": next(name for name in get_args(Method) if hasattr(estimator, name)),
        **class_keys,
    }


def _load_skops(card: EstimatorCard, path: Path) -> Stored:
    if untrusted := list_untrusted_types(path, card.known_types):
        names = ", ".join(untrusted)
        raise ModelError(
            f"{path} holds types that skops does not know to be "
            f"harmless: {names}. If you trust them, list them: 'trusted: [{names}]'"
        )
    return open_skops(path, card.known_types)


def _check_objective(card: EstimatorCard, path: Path, objective: str) -> None:
    if card.method == "predict_proba" and objective not in (BINARY, MULTICLASS):
        raise ModelError(
            f"{path} was trained for {objective}, which has no "
            "probabilities: use 'method: predict' or 'method: decision_function'"
        )
    if card.method == "predict" and objective.startswith(("binary:", "multi:")):
        raise ModelError(
            f"{path} was trained for {objective}, which predicts classes: "
            "use 'method: predict_proba' or 'method: decision_function'"
        )


def _check_header(path: Path, *, may_unpickle: bool) -> None:
    """Check that a file exists and has the format of its suffix, without opening it further."""
    what, remedy = f"estimator {path} cannot be read", "put the file there, or correct 'file:'"
    with convert_os_errors(ModelError, what, remedy), open_file(path) as file:
        start = file.read(1)
        file.seek(max(0, path.stat().st_size - LONGEST_END))
        end = file.read().rstrip()[-1:]
    if may_unpickle:
        return
    if path.suffix not in (SKOPS, *XGBOOST) or start == PICKLE_START:
        raise ModelError(
            f"{path} seems to be a file of pickle or joblib, which can run any code with your "
            "rights when it is opened. If you trust it, add 'unpickle: true' to the card, or "
            "convert it with skops.io.dump(joblib.load(path), 'model.skops'); expected without "
            f"'unpickle: true': {FORMATS}"
        )
    if path.suffix == SKOPS:
        has_format = zipfile.is_zipfile(path) and SKOPS_SCHEMA in zipfile.ZipFile(path).namelist()
    else:
        # XGBoost itself crashes the process on a file that is cut short.
        has_format = (start, end) == (b"{", b"}")
    if not has_format:
        raise ModelError(
            f"{path} is incomplete, or of another format than its suffix says; expected "
            f"{FORMATS}: write it again"
        )
