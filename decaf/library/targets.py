"""Find the callable that scores, and the column of its output that is ``q`` of each pair."""

from collections.abc import Callable, Mapping, Sequence
from inspect import getclosurevars
from traceback import walk_tb
from typing import Any, NamedTuple, cast

import numpy as np
from numpy.typing import ArrayLike, NDArray

from decaf.errors import MOST_KNOWN, ModelError, ResponseError, abridge, number_of
from decaf.foundation.arrays import (
    Array,
    Module,
    Tensor,
    as_array,
    as_real,
    is_network,
    is_tensor,
    one_each,
    to_numpy,
    type_name,
)
from decaf.models.estimators.column_names import fitted_order
from decaf.models.estimators.targets import count_targets

BOOSTER = "xgboost.core.Booster"
Score = Callable[[Any], Array | ArrayLike]
"""A batch of inputs → (n,) or (n, 1) scores, or (n, classes), from which a target selects."""


class ScoreCall(NamedTuple):
    """Callable that scores, and the column of its output for each input."""

    call: Score
    targets: NDArray[np.int64] | None
    """(n_inputs,) columns; None if the score has only one."""
    description: str
    """Method and class of an estimator, or the named class; empty for any other callable."""
    class_names: tuple[str, ...] = ()
    """Names of all columns; empty without names."""
    has_probabilities: bool = False
    """True if scores are probabilities of a classifier."""


def find_score_call(
    model: Any, target: Any, count: int, classes: Sequence[str] | None = None
) -> ScoreCall:
    """Find what to call: a classifier's ``predict_proba``, a callable itself, else ``predict``.

    A classifier has ``predict_proba`` and ``classes_``; its ``target`` is a label of ``classes_``.
    For other scores the target is the number of a column, or its name among ``classes``. It is one
    for all inputs or one for each. Raises ModelError when nothing can be called, for a class in
    place of its instance, when a network or one of its modules is in training mode, or a classifier
    has no probabilities or several outputs, ResponseError for impossible targets and names, and
    DataError for another number of targets than inputs.
    """
    if isinstance(model, type):
        raise ModelError(
            f"score is the class {model.__name__}; expected a model, which is an instance of it: "
            "build or load the model first"
        )
    name = type(model).__name__
    names = _class_names(model, classes)
    if hasattr(model, "classes_") and (targets := count_targets(model)):
        raise ModelError(
            f"score is a {name}, fitted on a table of {number_of(targets, 'label column')}; "
            "expected one column of labels: give a function that returns the probabilities of one"
        )
    if hasattr(model, "predict_proba") and hasattr(model, "classes_"):
        columns, words = _class_columns(model.classes_, target, count)
        description = f"predict_proba of {name}, {words}"
        return ScoreCall(model.predict_proba, columns, description, has_probabilities=True)
    if callable(model):
        _refuse_training_mode(model)
        call = NetworkScore(model) if is_network(model) else model
        if names and _are_names(target):
            columns, words = _class_columns(names, target, count)
            return ScoreCall(call, columns, words, class_names=names)
        return ScoreCall(call, _column_numbers(target, count), "", class_names=names)
    if hasattr(model, "predict_proba"):
        raise ModelError(f"score is the classifier {name} without classes_: fit it first")
    if hasattr(model, "classes_"):
        raise ModelError(
            f"score is the classifier {name} without predict_proba: give one of its methods that "
            "returns numbers, such as decision_function"
        )
    if f"{type(model).__module__}.{name}" == BOOSTER:
        raise ModelError(
            "score is a Booster of XGBoost, which takes a DMatrix; give "
            "lambda rows: booster.predict(xgboost.DMatrix(rows)), or an XGBClassifier or "
            "XGBRegressor"
        )
    if hasattr(model, "predict"):
        return ScoreCall(model.predict, _column_numbers(target, count), f"predict of {name}")
    raise ModelError(
        f"score is a {name}; expected a callable that maps a batch of inputs to scores, or an "
        "estimator with predict_proba or predict"
    )


def _refuse_training_mode(model: Any) -> None:
    """Raise ModelError if a network, or the network of a method, has modules in training mode.

    BatchNorm would change its running statistics, and dropout would draw.
    """
    if modules := _training_modules(getattr(model, "__self__", model), "score"):
        raise ModelError(
            f"score is a network with modules in training mode: {abridge(modules)}; expected "
            "evaluation mode, because in training mode scores depend on the batch and the audit "
            "would change running statistics: call score.eval() first"
        )


def _training_modules(value: Any, name: str) -> list[str]:
    """Modules in training mode of a network called ``name``, each with its class."""
    if not is_network(value):
        return []
    modules = {part or name: module for part, module in value.named_modules() if module.training}
    return [f"{part} ({type(module).__name__})" for part, module in modules.items()]


def remark_on_used_networks(score: Score) -> str:
    """Remark on networks in training mode that a function uses by its closure or as globals."""
    try:
        used = getclosurevars(score)
    except (TypeError, ValueError):  # not a function of Python, or a variable without a value yet
        return ""
    for name, value in {**used.globals, **used.nonlocals}.items():
        if modules := _training_modules(value, name):
            return (
                f"score uses {name}, a network with modules in training mode: {abridge(modules)}; "
                "its scores may depend on the batch, and the audit may change its running "
                f"statistics: call {name}.eval() first, unless the score does so itself"
            )
    return ""


def call_in_order(model: Any, call: Score, columns: Sequence[str]) -> Score:
    """Wrap the call of an estimator so that it gets columns of frames in the order of its fit.

    ``model`` is the estimator or one of its methods; ``columns`` is empty if inputs are arrays.
    """
    estimator = getattr(model, "__self__", model)
    if not columns or not hasattr(estimator, "predict"):
        return call
    ordered = fitted_order(estimator, columns)
    return call if ordered == list(columns) else lambda frame: call(frame[ordered])


class NetworkScore:
    """A torch network as a score, for inputs that it does not take itself.

    Arrays become tensors on the network's device; arrays and tensors get its precision.
    """

    def __init__(self, network: Module) -> None:
        import torch

        self._network = network
        self._takes_arrays = not isinstance(network, torch.jit.ScriptModule)
        self._takes_precision = True
        weights = (*network.parameters(), *network.buffers())
        self._weight = next((each for each in weights if each.is_floating_point()), torch.empty(0))

    def __call__(self, inputs: Array) -> Array:
        """Outputs for inputs; for tensors made of arrays, outputs are arrays again."""
        if is_tensor(inputs):
            return self._score_tensor(inputs)
        if self._takes_arrays:
            try:
                return self._network(inputs)
            except (TypeError, AttributeError):  # torch's own layers raise these for arrays
                self._takes_arrays = False
        import torch

        tensor = torch.tensor(inputs, dtype=self._weight.dtype, device=self._weight.device)
        with torch.inference_mode():
            outputs = self._network(tensor)
        if not is_tensor(outputs):
            return outputs
        return to_numpy(outputs.float() if outputs.dtype == torch.bfloat16 else outputs)

    def _score_tensor(self, inputs: Tensor) -> Array:
        """Outputs; inputs of another precision are converted if the network refuses them."""
        if self._takes_precision:
            try:
                return self._network(inputs)
            except RuntimeError:
                if inputs.dtype == self._weight.dtype or not inputs.is_floating_point():
                    raise
                self._takes_precision = False
        return self._network(inputs.to(self._weight.dtype))


def _class_names(model: Any, classes: Sequence[str] | None) -> tuple[str, ...]:
    """Check names of columns; raises ResponseError for others than distinct texts."""
    if classes is None:
        return ()
    if hasattr(model, "classes_"):
        raise ResponseError("the score is a classifier with its own classes_; remove 'classes'")
    names = (classes,) if isinstance(classes, str) else tuple(classes)
    if isinstance(classes, str) or not all(isinstance(name, str) for name in names):
        raise ResponseError(
            f"classes is {classes!r}; expected a list with the name of each column, in order"
        )
    if twice := [name for number, name in enumerate(names) if name in names[:number]]:
        raise ResponseError(
            f"'classes' has {twice[0]!r} more than once; give each column its own name"
        )
    return names


def _are_names(target: Any) -> bool:
    return target is not None and to_numpy(target).dtype.kind in "UTO"


def _class_columns(classes: ArrayLike, target: Any, count: int) -> tuple[NDArray[np.int64], str]:
    """(n_inputs,) columns of the classes that are the targets, and the class in words."""
    labels = np.asarray(classes).tolist()
    labels_text = abridge([repr(label) for label in labels], MOST_KNOWN)
    if target is None:
        raise ResponseError(
            f"the score is a classifier, so it needs a 'target'; expected one of "
            f"{labels_text}, or one for each input"
        )
    target_values = to_numpy(target)
    target_labels = (
        [target_values.item()]
        if target_values.ndim == 0
        else one_each(target, count, "target").tolist()
    )
    # A truth value equals 0 or 1 in Python, and is another label.
    column = {(isinstance(label, bool), label): number for number, label in enumerate(labels)}
    try:
        columns = [column[isinstance(label, bool), label] for label in target_labels]
    except KeyError as unknown:
        raise ResponseError(
            f"target {unknown.args[0][1]!r} is not a class of the score; expected one of "
            f"{labels_text}"
        ) from unknown
    words = f"class {target_labels[0]!r}" if target_values.ndim == 0 else "the class of each input"
    return np.full(count, columns) if target_values.ndim == 0 else np.array(columns), words


def _column_numbers(target: Any, count: int) -> NDArray[np.int64] | None:
    """(n_inputs,) column of each input, from one for all or one for each; None stays."""
    if target is None:
        return None
    target_values = to_numpy(target)
    targets = (
        np.full(count, target_values)
        if target_values.ndim == 0
        else one_each(target, count, "target")
    )
    if _are_names(targets):
        raise ResponseError(
            f"target is {_target_text(target)}, but the columns of the score have no names; give "
            "their names in order, as classes=['cat', 'dog'], or the number of a column from 0"
        )
    if targets.dtype.kind not in "iu" or targets.min() < 0:
        raise ResponseError(
            f"target is {_target_text(target)}; expected column numbers of the score, whole and "
            "from 0"
        )
    return targets.astype(np.int64)


def _target_text(target: Any) -> str:
    """Target for a message: one value, or the first of one for each input."""
    values = to_numpy(target)
    if values.ndim == 0:
        return repr(target)
    return f"[{abridge([repr(value) for value in values.tolist()])}]"


class TargetScorer:
    """Reduce the output of a callable to (n, columns) scores: the columns that targets name."""

    def __init__(
        self, score: Score, targets: NDArray[np.int64] | None, class_names: tuple[str, ...] = ()
    ) -> None:
        self._score = score
        self._class_names = class_names
        self._selected: NDArray[np.int64] | None = None
        if targets is not None:
            self._selected, self._columns = np.unique(targets, return_inverse=True)

    def columns(self, pair_count: int) -> NDArray[np.int64]:
        """(n_pairs,) column of each pair's score in the reduced output."""
        return np.zeros(pair_count, np.int64) if self._selected is None else self._columns

    def __call__(self, inputs: Array) -> Array:
        """(n, …) inputs → (n, columns) scores.

        Raises ModelError for anything but real numbers, one row for each input, with the columns
        that targets name.
        """
        output = "the output of the score"
        answer = self._call(inputs)
        _refuse_container(answer, len(inputs))
        if isinstance(answer, list) and any(np.ndim(part) > 1 for part in answer):
            raise ModelError(
                f"the score returned a list of {len(answer)} tables, as classifiers for several "
                "label columns do; expected one table: give a function that returns one of them"
            )
        scored = as_real(as_array(answer, output, ModelError), output, ModelError)
        if type_name(scored) == "bfloat16":  # numpy does not have it
            scored = cast("Tensor", scored).float()
        shape = tuple(scored.shape)
        if len(shape) not in (1, 2) or shape[0] != len(inputs):
            raise ModelError(
                f"the score returned shape {shape} for {len(inputs)} inputs; expected "
                f"({len(inputs)},) or ({len(inputs)}, columns)"
            )
        scored = scored.reshape(len(inputs), -1)
        if self._class_names and len(self._class_names) != scored.shape[1]:
            raise ModelError(
                f"the score returned {scored.shape[1]} columns, and 'classes' names "
                f"{len(self._class_names)}; expected one name for each column"
            )
        if self._selected is None:
            if scored.shape[1] != 1:
                raise ModelError(
                    f"the score returned {scored.shape[1]} columns; choose q by 'target', "
                    "one column number for all inputs or one for each"
                )
            return scored
        if self._selected[-1] >= scored.shape[1]:
            raise ModelError(
                f"target is column {self._selected[-1]}, but the score returned {scored.shape[1]} "
                f"columns; expected 0 to {scored.shape[1] - 1}"
            )
        return scored[:, self._selected.tolist()]

    def _call(self, inputs: Array) -> Any:
        """Outputs of the score; ModelError names the remedy where torch refuses arrays."""
        try:
            return self._score(inputs)
        except (AttributeError, RuntimeError, TypeError) as error:
            if not isinstance(inputs, np.ndarray) or not _is_about_arrays(error):
                raise
            reason = str(error).partition("\n")[0]
            raise ModelError(
                f"the score failed for a NumPy array of shape {inputs.shape}: {reason}; if it "
                "needs tensors, give x_plus and x_minus as tensors (torch.from_numpy), or the "
                "network itself as the score"
            ) from error


def _is_about_arrays(error: Exception) -> bool:
    """True for an error of torch, or one that names the type of NumPy arrays."""
    frames = [frame for frame, _ in walk_tb(error.__traceback__)]
    module = str(frames[-1].f_globals.get("__name__"))
    return "ndarray" in str(error) or module.partition(".")[0] == "torch"


def _refuse_container(answer: Any, count: int) -> None:
    """Raise ModelError for a tuple, a mapping or an object that holds the output of a network."""
    if is_tensor(answer) or hasattr(answer, "__array__"):
        return
    if hasattr(answer, "logits"):
        part = ".logits"
    elif isinstance(answer, Mapping) and answer:
        part = f"[{'logits' if 'logits' in answer else next(iter(answer))!r}]"
    elif isinstance(answer, tuple) and (len(answer) != count or any(map(np.ndim, answer))):
        part = "[0]"
    else:
        return
    raise ModelError(
        f"the score returned a {type(answer).__name__}; expected one array or tensor with a row "
        "for each input: give a function that returns one of its arrays, such as "
        f"lambda x: net(x){part}"
    )
