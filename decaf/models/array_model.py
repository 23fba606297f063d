"""A callable on numpy arrays as a model."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from copy import copy
from itertools import chain
from typing import Any

import numpy as np
from numpy.typing import NDArray

from decaf.data.frame_libraries import Frame
from decaf.data.frames import FrameSchema
from decaf.data.pairs import ColumnProxies
from decaf.errors import ModelError, abridge
from decaf.foundation.arrays import Tensor, as_array, as_real, to_numpy, type_name
from decaf.foundation.names import quote
from decaf.models.card import Output
from decaf.models.estimators.boosters import (
    named_columns,
    refuse_unfit_columns,
    remark_unnamed_categories,
)
from decaf.models.estimators.column_names import Match, match_columns
from decaf.models.estimators.encoders import (
    encoded_categories,
    refuse_numbers_for_text,
    remark_unknown_categories,
)

TEXT_REFUSED = "enable_categorical"
"""Word in XGBoost's error about columns of text."""
SHOWN_COLUMNS = 8
NO_CHANGE = 1e-9
"""Largest difference of outputs that rounding may cause."""

NOT_PROBABILITIES = (
    "returned whole numbers, like labels of classes, but its card says 'output: "
    "probabilities'; expected the probability of class 1: return predict_proba(rows)[:, 1]"
)
"""Message for a model that returns labels instead of probabilities."""


class ArrayModel:
    """Inputs as a numpy array → outputs of a callable, on the CPU.

    ``answer`` takes float32 inputs and returns (n,) or (n, outputs) numbers. ``name`` is its name
    in messages. ``estimator`` is the object behind it, for methods that read its structure.
    ``seed_argument`` is the keyword argument of ``answer`` for the seed of a query, if any.
    ``frame_columns`` are the columns of the frames that ``answer`` takes for tables: empty for all
    columns of the table, None if it takes only arrays. With ``by_position``, columns of a table
    are passed in their order, under any names.
    """

    def __init__(
        self,
        answer: Callable[..., Any],
        output: Output,
        name: str,
        estimator: Any = None,
        frame_columns: Sequence[str] | None = None,
        *,
        seed_argument: str | None = None,
        by_position: bool = False,
        remarks: tuple[str, ...] = (),
    ) -> None:
        import torch

        self.output = output
        self.estimator = estimator
        self.device = torch.device("cpu")
        self._answer = answer
        self._name = name
        self._frame_columns = frame_columns
        self._seed_argument = seed_argument
        self._columns: FrameSchema | None = None
        self._match = Match([], [], "")
        self._text_columns: list[str] = []
        self._categories: dict[str, tuple[Any, ...]] = {}
        self._category_remarks: tuple[str, ...] = ()
        self._unknown_columns: frozenset[str] = frozenset()
        self._by_position = by_position
        self.remarks = remarks
        """Sentences for the user who audits the model."""

    def of_frames(self, columns: FrameSchema) -> "ArrayModel | None":
        """The same model for rows of a table, called with frames; None if it takes only arrays.

        An estimator that takes only arrays gets a remark that names the columns in their order.
        Raises ModelError when the table lacks a column that the model was fitted on, and DataError
        when a column of the table does not fit the model's encoders or XGBoost's categories.
        """
        model_columns = self._frame_columns
        column_names = [column.name for column in columns.columns]
        if model_columns is None:
            if self.estimator is not None and len(column_names) > 1:
                remark = (
                    "the model's file stores no column names, so the model gets the table's "
                    f"columns in their order: {abridge(column_names, SHOWN_COLUMNS)}"
                )
                self.remarks = (*self.remarks, remark)
            return None
        try:
            match = match_columns(
                model_columns or column_names, column_names, by_position=self._by_position
            )
        except ValueError as error:
            raise ModelError(f"{self._name} {error}") from error
        model = copy(self)
        model._columns, model._match = columns, match
        by_name = {column.name: column for column in columns.columns}
        fitted = {
            name: by_name[column] for name, column in zip(match.names, match.columns, strict=True)
        }
        categories = encoded_categories(self.estimator)
        refuse_numbers_for_text(categories, fitted)
        refuse_unfit_columns(self.estimator, fitted)
        unknown = remark_unknown_categories(categories, fitted)
        model._unknown_columns = frozenset(unknown)
        model._category_remarks = (
            *chain(*unknown.values()),
            *remark_unnamed_categories(self.estimator, fitted),
        )
        column_remarks = [match.remark] if match.remark else []
        model.remarks = (*self.remarks, *column_remarks, *model._category_remarks)
        text = {name: column for name, column in fitted.items() if column.is_text}
        model._text_columns = [column.name for column in text.values()]
        named = named_columns(self.estimator, text)
        model._categories = {name: text[name].categories for name in named}
        return model

    def remark_changes(
        self,
        changed_columns: Mapping[str, Sequence[str]],
        column_proxies: ColumnProxies,
        rows: NDArray[np.floating] | None,
    ) -> Iterator[str]:
        """Remark on pair types that cannot show how the model uses their columns.

        The model uses none of the columns, or its encoders do not know all values of a column, or
        it uses an unchanged proxy of a column: limits on a change with a remark that
        begins with "pair type" decide nothing. ``changed_columns`` are names of columns of the
        table, by pair type. ``rows``, (n, width), show which of its columns the model uses; with
        None, it counts as using all.
        """
        if self._columns is None:
            return
        model_columns = set(self._match.columns)
        for pair_type, names in changed_columns.items():
            unknown = [quote(name) for name in names if name in self._unknown_columns]
            proxies = {
                quote(name): [
                    quote(proxy)
                    for proxy in proxies_of_name
                    if proxy in model_columns and self._uses(proxy, rows)
                ]
                for name, proxies_of_name in column_proxies.get(pair_type, {}).items()
            }
            used_proxies = dict.fromkeys(chain(*proxies.values()))
            if used_proxies:
                replaced = [name for name, used in proxies.items() if used]
                yield (
                    f"pair type '{pair_type}' changes {abridge(replaced)} but not "
                    f"{abridge([*used_proxies])}, which the model uses. In the table, one column "
                    "follows (almost) from the other. Likely a proxy: change both, in a second "
                    "table ('counterfactuals:')"
                )
            elif model_columns.isdisjoint(names):
                yield (
                    f"the model does not use {abridge(names, SHOWN_COLUMNS)}, so the pair type "
                    f"'{pair_type}' cannot change its score: change a column that the model uses"
                )
            elif unknown:
                yield (
                    f"pair type '{pair_type}' changes {abridge(unknown, SHOWN_COLUMNS)}, where the "
                    "model's encoder does not know all values. Likely causes: lost leading zeros, "
                    "or other words than in the fit"
                )

    def _uses(self, column: str, rows: NDArray[np.floating] | None) -> bool:
        """True if other values of a column change outputs, or ``rows`` cannot show it."""
        if self._columns is None or rows is None:
            return True
        import torch

        names = [column.name for column in self._columns.columns]
        is_of_column = self._columns.regions == names.index(column) + 1
        shifted = []
        for shift in 2 ** np.arange(len(rows).bit_length()):
            shifted.append(rows.copy())
            shifted[-1][:, is_of_column] = np.roll(rows[:, is_of_column], shift, axis=0)
        if all(np.array_equal(turned, rows, equal_nan=True) for turned in shifted):
            return True
        outputs = self.outputs(torch.from_numpy(np.concatenate([rows, *shifted]))).numpy()
        before, *after = np.split(outputs, len(shifted) + 1)
        return not all((np.abs(turned - before) <= NO_CHANGE).all() for turned in after)

    def outputs(self, inputs: Tensor) -> Tensor:
        """(n, …) float32 → (n, outputs) float64, with the seed 0 if the callable takes one.

        Raises what :meth:`seeded_outputs` raises.
        """
        return self.seeded_outputs(inputs, 0)

    def seeded_outputs(self, inputs: Tensor, seed: int) -> Tensor:
        """(n, …) float32 and the seed of the query → (n, outputs) float64.

        Raises ModelError when the callable refuses the inputs (``ValueError``), or its result
        is not an array of real numbers, one row for each input.
        """
        import torch

        rows = inputs.numpy()
        if self._columns is not None:
            rows = self._as_fitted(self._columns.decode(rows))
        return torch.from_numpy(self._ask(rows, seed))

    def distinct_outputs(self, inputs: Tensor) -> Tensor:
        """Compute outputs as :meth:`outputs` does, each distinct row of a frame once.

        Arrays are passed on unchanged. If several inputs are decoded to one row, the callable gets
        this row once, so it must be deterministic. Raises what :meth:`seeded_outputs` raises.
        """
        import torch

        if self._columns is None:
            return self.outputs(inputs)
        frame, places = self._columns.decode_distinct(inputs.numpy())
        return torch.from_numpy(self._ask(self._as_fitted(frame), 0)[places.inverse])

    def _as_fitted(self, frame: Frame) -> Frame:
        """Columns that the callable was fitted on, under the names of the fit.

        Text columns become pandas categories if the model stores the names of its categories.
        """
        chosen = frame[self._match.columns]
        chosen.columns = self._match.names
        if self._categories:
            from pandas import CategoricalDtype

            kinds = {name: CategoricalDtype(words) for name, words in self._categories.items()}
            chosen = chosen.astype(kinds)
        return chosen

    def _ask(self, rows: NDArray[np.floating] | Frame, seed: int) -> NDArray[np.float64]:
        """(n, …) rows → (n, outputs), checked."""
        seeds = {self._seed_argument: seed} if self._seed_argument else {}
        try:
            answer = self._answer(rows, **seeds)
        except ValueError as error:
            reason = self._explain(str(error))
            raise ModelError(f"{self._name} raised {type(error).__name__}: {reason}") from error
        output = f"the output of {self._name}"
        array = as_array(answer, output, ModelError)
        numbers = to_numpy(as_real(array, output, ModelError))
        if numbers.ndim not in (1, 2) or len(numbers) != len(rows):
            raise ModelError(
                f"{self._name} returned shape {numbers.shape} for {len(rows)} inputs; expected "
                f"({len(rows)}, outputs)"
            )
        columns = numbers if numbers.ndim == 2 else numbers[:, None]
        has_integers = type_name(array).startswith(("int", "uint"))
        if has_integers and columns.shape[1] == 1 and self.output == "probabilities":
            raise ModelError(f"{self._name} {NOT_PROBABILITIES}")
        return columns.astype(np.float64)

    def _explain(self, reason: str) -> str:
        """Error text of the callable, with remarks on categories that may have caused it.

        For text that XGBoost refuses, a message that names the keys of the study.
        """
        if not (self._text_columns and TEXT_REFUSED in reason):
            return "; ".join((reason, *self._category_remarks))
        keys = ", ".join(f"{name}: […]" for name in self._text_columns)
        return (
            f"XGBoost takes numbers and categories, and the table has text in "
            f"{abridge(self._text_columns)}: list the categories in the order in which the model "
            f"was fitted, 'data: categories: {{{keys}}}', or leave the columns out with 'drop:'"
        )
