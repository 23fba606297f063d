"""Data frames in an audit: arrays for the paths, and frames again for the model."""

from collections import Counter
from collections.abc import Container, Iterator, Mapping
from dataclasses import dataclass, replace
from itertools import chain
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from decaf.data.change_remarks import (
    FEWEST_ROWS,
    describe_other_rows,
    differing_rows,
    remark_moved_marks,
    remark_outside,
)
from decaf.data.column_proxies import ChangedRows, list_proxies
from decaf.data.column_remarks import remark_widths
from decaf.data.frame_libraries import Frame
from decaf.data.frames import FrameSchema, library_of
from decaf.data.typed_frames import remark_new_texts
from decaf.errors import DataError, abridge
from decaf.foundation.arrays import Array
from decaf.foundation.names import quote
from decaf.models.estimators.boosters import (
    refuse_texts,
    refuse_unfit_columns,
    remark_unnamed_categories,
)
from decaf.models.estimators.column_names import fitted_order
from decaf.models.estimators.encoders import (
    encoded_categories,
    refuse_numbers_for_text,
    remark_unknown_categories,
)
from decaf.reveal.path import RevealPath
from decaf.reveal.paths.removal import Removal
from decaf.scoring.planner import StatePlan
from decaf.scoring.states import StateBuilder


@dataclass(frozen=True)
class Frames:
    """Schema that the frames of an audit share, and the labels of the factual rows."""

    schema: FrameSchema
    labels: Any
    """Index of pandas, (n_inputs,); None for polars, whose rows have none."""

    @classmethod
    def of(cls, inputs: Mapping[str, Any]) -> "Frames | None":
        """Describe the inputs of an audit, ``x_plus`` among them; None where all are arrays.

        Raises DataError when they are not frames of one library with the same columns, or one has
        the row labels of ``x_plus`` in another order.
        """
        if not any(library_of(values) for values in inputs.values()):
            return None
        schema, labels = FrameSchema.of(*inputs.values()), getattr(inputs["x_plus"], "index", None)
        frames = cls(schema, labels)
        frames.refuse_reordered(inputs)
        return frames

    def refuse_reordered(self, columns: Mapping[str, Any]) -> None:
        """Refuse frames or series with the row labels of ``x_plus`` in another order.

        Other values have no labels, and are paired by position. Raises DataError.
        """
        for name, values in columns.items():
            if self.labels is not None and hasattr(values, "set_axis"):
                _refuse_reordered(self.labels, values.index, name)

    @property
    def feature_names(self) -> tuple[str, ...]:
        """Names of the columns, each of which is a feature."""
        return tuple(column.name for column in self.schema.columns)

    def pack(self, inputs: Mapping[str, Any]) -> dict[str, list[NDArray[Any]]]:
        """Packed rows of frames by name; raises DataError as :meth:`FrameSchema.pack`."""
        return {name: self.schema.pack(frame) for name, frame in inputs.items()}

    def remark(
        self, model: Any, inputs: Mapping[str, Any], packed: Mapping[str, list[NDArray[Any]]]
    ) -> Iterator[str]:
        """Remark on many categories, on those that the model or ``x_plus`` lacks, and on changes.

        ``model`` is an estimator, a method of one or any callable, and ``packed`` has the rows of
        ``inputs`` from :meth:`pack`. Columns without an encoder are
        compared with ``x_plus``, if they hold each value twice on average, as free text does not.
        Columns that the estimator was not fitted on get no remark, unless no other column changes.
        Raises DataError for numbers in a column whose encoder was fitted on text, for columns
        that do not fit the categories of XGBoost, and for text that its estimators refuse.
        """
        estimator = getattr(model, "__self__", model)
        used = frozenset(fitted_order(estimator, self.feature_names))
        yield from remark_widths(self.schema, "drop it", used)
        encoded = encoded_categories(estimator)
        by_name = {column.name: column for column in self.schema.columns}
        refuse_numbers_for_text(encoded, by_name)
        refuse_unfit_columns(estimator, by_name)
        refuse_texts(estimator, by_name)
        yield from chain(*remark_unknown_categories(encoded, by_name).values())
        yield from remark_unnamed_categories(estimator, by_name)
        plus = inputs["x_plus"]
        repeated_names = [
            name
            for name, column in by_name.items()
            if column.is_text
            and name in used - encoded.keys()
            and 2 * _count_values(plus[name]) <= len(plus)
        ]
        for name, values in inputs.items():
            if name != "x_plus":
                for remark in remark_new_texts(values, plus, repeated_names, "x_plus"):
                    yield f"{name}: {remark}"
        before, after = packed["x_plus"], packed.get("x_minus")
        if after and len(before[0]) == len(after[0]):
            changed = [
                name
                for name, *parts in zip(self.feature_names, before, after, strict=True)
                if differing_rows(*parts).any()
            ]
            if changed and used.isdisjoint(changed):
                yield (
                    f"x_minus differs from x_plus only in {abridge(changed)}, which the estimator "
                    "was not fitted on, so no score can change: change a column of its fit"
                )
            yield from self._remark_changes(before, after)
            yield from self._remark_proxies(before, after, changed, used)

    def _remark_changes(
        self, before: list[NDArray[Any]], after: list[NDArray[Any]]
    ) -> Iterator[str]:
        """Remark on 20 rows or more whose changes are rarely intended."""
        if len(before[0]) < FEWEST_ROWS:
            return
        if reason := describe_other_rows(before, after):
            yield f"x_minus: {reason} than in x_plus; are the rows in the same order?"
        yield from remark_outside("x_minus", "x_plus", self.schema, before, before, after)
        yield from remark_moved_marks("x_minus", self.schema, before, before, after)

    def _remark_proxies(
        self,
        before: list[NDArray[Any]],
        after: list[NDArray[Any]],
        changed: list[str],
        used: Container[str],
    ) -> Iterator[str]:
        """Remark on columns that change without a proxy that the estimator was fitted on."""
        rows = np.arange(len(before[0]))
        change = ChangedRows("", after, rows, rows)
        proxies = list_proxies(self.schema, before, [change], {"": changed}).get("", {})
        for name, own_proxies in proxies.items():
            if fitted := [quote(proxy) for proxy in own_proxies if proxy in used]:
                yield (
                    f"x_minus changes {quote(name)} but not {abridge(fitted)}. In x_plus, one "
                    "column follows (almost) from the other: if the model uses the unchanged one, "
                    "change both"
                )

    @property
    def has_labels(self) -> bool:
        """True if rows have labels other than their numbers; a model may use labels."""
        labels = self.labels
        is_numbers = type(labels).__name__ == "RangeIndex" and (labels.start, labels.step) == (0, 1)
        return labels is not None and not is_numbers

    def regions(self, of_columns: ArrayLike | None) -> NDArray[np.integer]:
        """Features of encoded values from features of columns; by default, each column is one."""
        columns = self.schema.regions
        if of_columns is None:
            return columns
        column_regions, count = np.asarray(of_columns), len(self.schema.columns)
        if column_regions.shape[-1:] != (count,):
            raise DataError(
                f"regions have shape {column_regions.shape}; expected {count} on the last axis, "
                "one for each column of the frame"
            )
        return column_regions[..., columns - 1]

    def from_typical(self, path: RevealPath, encoded: NDArray[Any]) -> RevealPath:
        """The path; it removes features to the typical row unless it sets a baseline.

        A model sees that row as the mean of every number over the rows that have it, and the most
        frequent category.
        """
        if not isinstance(path, Removal) or path.value != Removal.value:
            return path
        row = encoded.mean(axis=0, dtype=np.float64)
        return replace(path, value=tuple(row.tolist()))


def _count_values(column: Any) -> int:
    return column.nunique() if hasattr(column, "nunique") else column.drop_nulls().n_unique()


def _refuse_reordered(labels: Any, other_labels: Any, name: str) -> None:
    """Refuse equal labels in another order: pairs by label differ from pairs by position."""
    if labels.equals(other_labels) or Counter(labels) != Counter(other_labels):
        return
    row = next(n for n, label in enumerate(labels) if label != other_labels[n])
    raise DataError(
        f"{name} has the row labels of x_plus in another order, first {other_labels[row]!r} in row "
        f"{row + 1}, where x_plus has {labels[row]!r}; expected the same order, since rows are "
        f"paired by position: sort both alike, or, if their positions are right, give "
        f"{name}.set_axis(x_plus.index)"
    )


class FrameBuilder(StateBuilder):
    """Builds states as frames; each row has the label of the factual row that it belongs to."""

    def __init__(self, plan: StatePlan, inputs: Array, frames: Frames) -> None:
        super().__init__(plan, inputs)
        self._frames = frames

    def build(self, states: NDArray[np.int64]) -> Any:
        """(n,) numbers of states → a frame of n rows."""
        frame = self._frames.schema.decode(super().build(states))
        return self._add_labels(frame, states)

    def _add_labels(self, frame: Frame, states: NDArray[np.int64]) -> Frame:
        if self._frames.labels is not None:
            frame.index = self._frames.labels[self._plan.source[states]]
        return frame


class FrameBatch(NamedTuple):
    """Distinct rows of a batch of states."""

    frame: Frame
    inverse: NDArray[np.int64]
    """(n_states,) row of the frame for each state."""


class DistinctFrameBuilder(FrameBuilder):
    """Builds states as frames in which each row occurs once, for scores that do not draw.

    Rows with different labels stay apart.
    """

    def build(self, states: NDArray[np.int64]) -> Any:
        """(n,) numbers of states → :class:`FrameBatch` of their distinct rows."""
        values = StateBuilder.build(self, states)
        labels = None if self._frames.labels is None else self._plan.source[states]
        frame, places = self._frames.schema.decode_distinct(values, labels)
        return FrameBatch(self._add_labels(frame, states[places.first]), places.inverse)
