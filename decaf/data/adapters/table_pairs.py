"""Rows of a table and their counterfactuals: from a second table, from changes, or from removal."""

from collections.abc import Iterator, Sequence
from functools import cached_property
from typing import Any, Literal, NamedTuple, cast

import numpy as np
from numpy.typing import NDArray
from pydantic import Field, model_validator

from decaf.data.adapters.base import Adapter
from decaf.data.change_remarks import remark_moved_marks, remark_outside
from decaf.data.class_ids import CLASSES, ClassNames, class_ids, names_of
from decaf.data.coded import code_distinct, code_texts, combine, repeat_text
from decaf.data.column_proxies import list_proxies
from decaf.data.column_remarks import number_columns, remark_marks, remark_widths
from decaf.data.frame_libraries import Frame
from decaf.data.frames import FrameSchema
from decaf.data.inputs import InputColumns
from decaf.data.missing_words import Declarations, remark_words
from decaf.data.pair_columns import PairColumns
from decaf.data.pairs import ALL, Input, PairSet
from decaf.data.row_names import NO_VALUE, names_of_rows, refuse_doubled, remark_numbers
from decaf.data.swapped_names import remark_swapped
from decaf.data.table_changes import Change, share_missing
from decaf.data.table_files import unused_columns
from decaf.data.table_rows import (
    TABLE_ROW,
    Counterfactuals,
    PackedRows,
    PairedRows,
    pair_rows,
    remark_changes,
    remark_equal,
)
from decaf.data.texts import Texts, join_texts
from decaf.data.typed_frames import (
    Dtype,
    cast_counterfactuals,
    read_frame,
    refuse_marked_numbers,
    remark_new_texts,
    text_values,
)
from decaf.data.weights import UNSAID, weights_of
from decaf.errors import DataError, SettingError, abridge, suggestion
from decaf.foundation.digests import json_sha256
from decaf.foundation.memory import release_memory
from decaf.foundation.names import quote
from decaf.foundation.settings import PlacedPath, ShownName, fault, require_keys, setting

ENCODING, PRESENCE_ENCODING = "table_pairs 1", "table_pairs 2"
"""Version of the conversion of rows to values, and its version for tables with missing numbers.

Raise a version if the values or the rows that models get change.
"""
PAIR_TYPE = "pair"
"""Default pair type."""


class Built(NamedTuple):
    """Pairs made from files and settings, and the reader of their rows."""

    rows: PairedRows
    pairs: PairSet


class TablePairs(Adapter):
    """Rows of a table in a file, paired with counterfactual rows, or without a column.

    A model that was fitted on a frame gets a frame with the types of the columns.
    """

    adapter: Literal["table_pairs"]
    table: PlacedPath = Field(
        description="`.csv`, `.parquet`, `.jsonl` or `.ndjson` file of the factual rows"
    )
    id: str | None = Field(
        None, description="column that names the rows; they are numbered from 0 when absent"
    )
    counterfactuals: PlacedPath | None = Field(
        None,
        description="file of counterfactual rows with the same columns and the `id` of their "
        "factual row",
    )
    several: bool = Field(False, description="allow several counterfactuals of one type for a row")
    pair_type: str | None = Field(
        None,
        description="column of `counterfactuals` with the pair type; `pair` when absent",
    )
    changes: dict[ShownName, Change] = Field(
        {},
        description="changes of columns by pair type, each a mapping of `set`, `multiply`, `add`, "
        "`swap` and `permute`",
    )
    removed: tuple[str, ...] = Field(
        (),
        description="columns to remove one at a time, for `removal` paths; the pair type is "
        "`without COLUMN`",
    )
    label: str | None = Field(
        None,
        description="column of the class whose score is q, number or name; when absent, a score of "
        "classes needs a `target`",
    )
    classes: ClassNames = Field((), description=CLASSES)
    source: str | None = Field(
        None, description="column whose equal values are resampled together; the row when absent"
    )
    split: str | None = Field(None, description="column of the rows' splits")
    weight: str | None = Field(
        None,
        description="column of the weights of a row's pairs in means; 1 when absent",
    )
    groups: tuple[ShownName, ...] = Field(
        (),
        description="columns of `table` by whose values reports divide the pairs; they are also "
        "inputs unless `drop` or `inputs` excludes them",
    )
    inputs: tuple[str, ...] = Field(
        (),
        description="columns that the model takes; when absent, all but those of `id`, `label`, "
        "`source`, `split`, `weight`, `pair_type` and `drop`",
    )
    drop: tuple[str, ...] = Field((), description="further columns that are not inputs")
    dtypes: dict[str, Dtype] = Field(
        {}, description="pandas types of columns, if they differ from the file's"
    )
    categories: dict[str, tuple[bool | int | float | str, ...]] = Field(
        {},
        description="for columns that the model was fitted on as pandas' `category`: all values "
        "of each, in the order of the training; not needed if a Parquet file or the XGBoost model "
        "stores the categories",
    )

    @model_validator(mode="after")
    def _makes_pairs(self) -> "TablePairs":
        if not (self.counterfactuals or self.changes or self.removed):
            raise fault(
                "found none of 'counterfactuals' (a table), 'changes' and 'removed' (columns); "
                "give at least one"
            )
        if self.inputs and self.drop:
            raise fault("give 'inputs' or 'drop', not both", "drop")
        has_table = self.counterfactuals is not None
        require_keys(
            [
                ("counterfactuals", not has_table or self.id is not None, "an 'id' to join by"),
                ("pair_type", self.pair_type is None or has_table, "'counterfactuals'"),
                ("several", not self.several or has_table, "'counterfactuals'"),
                ("classes", not self.classes or self.label is not None, "a 'label'"),
            ]
        )
        return self

    def pair_set(self) -> PairSet:
        """One pair for every counterfactual that differs from its row."""
        return self._contents.pairs

    def verify(self, pairs: PairSet) -> None:
        """Accept everything: all rows have the columns of one table."""

    def read_input(self, image: Input) -> NDArray[np.floating]:
        """(width,) one row as values."""
        return self._contents.rows.read(np.array([int(image.location)]))[0]

    def read_inputs(self, inputs: InputColumns) -> NDArray[np.floating]:
        """(n, width) rows as values."""
        return self._contents.rows.read(Texts(inputs.locations).to_numbers())

    @cached_property
    def _contents(self) -> Built:
        declarations = self._declarations()
        table = read_frame(self.table, self.dtypes, self.categories, declarations)
        frame = table.frame
        self._check_names(frame)
        ids = self._ids(frame)
        names = self._input_names(frame)
        undeclared = [name for name in names if name not in {*self.dtypes, *self.categories}]
        refuse_marked_numbers(frame, undeclared, self.table)
        used = {*names, self.id, self.label, self.source, self.split, self.weight, *self.groups}
        used |= {change.permute.within for change in self.changes.values() if change.permute}
        first_remarks = (*remark_words(table, used), *remark_numbers(table, used))
        remarks = [f"table: {remark}" for remark in first_remarks]
        frames = [frame[names]]
        if self.counterfactuals is not None:
            texts = text_values(frame, names)
            of_text = {**declarations.of_text, **texts}
            second = read_frame(
                self.counterfactuals,
                self.dtypes,
                self.categories,
                declarations._replace(of_text=of_text),
                texts,
            )
            second_frame = cast_counterfactuals(second.frame, frame, names)
            used = {*names, self.id, self.pair_type}
            second_remarks = (
                *remark_swapped([self.table.name], [self.counterfactuals.name]),
                *remark_new_texts(second_frame, frame, names),
                *unused_columns(second_frame, {*used, *self.drop}),
                *remark_words(second, used),
                *remark_numbers(second, used),
            )
            remarks += [f"counterfactuals: {remark}" for remark in second_remarks]
            frames.append(second_frame[names])
        columns = share_missing(FrameSchema.of(*frames), self.changes.values())
        factual = PackedRows(columns, columns.pack(frames[0]))
        remarks += [*remark_widths(columns, "name it under 'drop:'")]
        remarks += remark_marks(number_columns(columns, factual.parts))
        changed = dict(self._counterfactuals_by_change(factual, frame))
        for pair_type, origin in changed.items():
            subject, rows = f"change {quote(pair_type)}", (factual.parts, origin.rows.parts)
            remarks += remark_outside(subject, "the table", columns, factual.parts, *rows)
            remarks += remark_moved_marks(subject, columns, factual.parts, *rows)
        counterfactual_parts = [*self._counterfactuals_by_removal(factual), *changed.values()]
        if self.counterfactuals is not None:
            second_rows = PackedRows(columns, columns.pack(frames[1]))
            joined = self._join_counterfactuals(second_rows, second_frame, ids)
            remarks += [f"counterfactuals: {remark}" for remark in remark_changes(factual, joined)]
            counterfactual_parts.append(joined)
        return self._make_pairs(factual, frame, ids, counterfactual_parts, remarks)

    def _declarations(self) -> Declarations:
        """Values that settings name, and columns of names, in which no word is a missing value."""
        of_text: dict[str, list[Any]] = {}
        for change in self.changes.values():
            for name, value in change.set.items():
                of_text.setdefault(name, []).append(value)
        names = (self.id, self.label, self.source, self.split, self.pair_type, *self.groups)
        declared = {} if self.label is None else {self.label: names_of(self.classes)}
        return Declarations(declared, of_text, [name for name in names if name is not None])

    def _check_names(self, frame: Frame) -> None:
        """Refuse settings that name columns which the table does not have."""
        named = {
            "id": [self.id],
            "label": [self.label],
            "source": [self.source],
            "split": [self.split],
            "weight": [self.weight],
            "groups": self.groups,
            "inputs": self.inputs,
            "drop": self.drop,
            "dtypes": self.dtypes,
            "categories": self.categories,
            "removed": self.removed,
        }
        for key, names in named.items():
            for name in names:
                if name is not None and name not in frame:
                    message = f"'{key}:' names the column {name!r}, which {self.table} lacks"
                    hint = suggestion(name, map(str, frame.columns))
                    raise SettingError(f"{message}{hint}", key)

    def _input_names(self, frame: Frame) -> list[str]:
        special_columns = {
            self.id,
            self.label,
            self.source,
            self.split,
            self.weight,
            self.pair_type,
        }
        special_columns.update(self.drop)
        names = [*self.inputs] or [name for name in frame.columns if name not in special_columns]
        if not names:
            raise DataError(f"{self.table} has no column that is an input; correct 'drop:'")
        return names

    def _ids(self, frame: Frame) -> Texts:
        ids = self._names(frame, self.id) or Texts.numbers(np.arange(len(frame)))
        refuse_doubled(ids, f"{self.table} has two rows with the {self.id} ", "give each its own")
        return ids

    def _counterfactuals_by_removal(self, factual: PackedRows) -> Iterator[Counterfactuals]:
        names, count = [column.name for column in factual.columns.columns], factual.row_count
        for name in self.removed:
            if name not in names:
                message = f"'removed:' names {name!r}, which is not an input of the model"
                raise SettingError(message, "removed")
            types = repeat_text(f"without {name}", count)
            feature = names.index(name) + 1
            yield Counterfactuals(np.arange(count), factual, types, feature=feature)

    def _counterfactuals_by_change(
        self, factual: PackedRows, frame: Frame
    ) -> Iterator[tuple[str, Counterfactuals]]:
        """Counterfactual rows of each change, by its pair type."""

        def group_numbers(name: str) -> NDArray[np.int64]:
            if name not in frame:
                message = f"'within:' names the column {name!r}, which {self.table} lacks"
                raise DataError(f"{message}{suggestion(name, frame)}")
            return np.unique(frame[name].astype(str).to_numpy(str), return_inverse=True)[1]

        count = factual.row_count
        for pair_type, change in self.changes.items():
            with setting("changes", pair_type):
                parts = change.apply(factual.columns, factual.parts, group_numbers)
            rows = factual._replace(parts=parts)
            types = repeat_text(pair_type, count)
            yield pair_type, Counterfactuals(np.arange(count), rows, types)

    def _join_counterfactuals(self, rows: PackedRows, other: Frame, ids: Texts) -> Counterfactuals:
        """Rows of the second table, each with its row of the first table."""
        row_names = names_of_rows(other, cast("str", self.id))
        place = ids.find(row_names)
        if (place < 0).any():
            strange = sorted({*row_names.take(np.flatnonzero(place < 0))})
            raise DataError(
                f"{self.counterfactuals} has rows of the {self.id} {abridge(strange)}, which "
                f"{self.table} lacks; correct the ids, or add the rows"
            )
        types = Texts.repeat(PAIR_TYPE, len(row_names))
        if self.pair_type is not None:
            if self.pair_type not in other:
                message = f"{self.counterfactuals} lacks the column {self.pair_type!r}"
                raise SettingError(f"{message}{suggestion(self.pair_type, other)}", "pair_type")
            types = names_of_rows(other, self.pair_type)
        keys, suffix = join_texts(row_names, " (", types, ")"), None
        if self.several:
            suffix = join_texts("__", Texts.numbers(1 + code_texts(keys).earlier_rows()))
        else:
            what = f"{self.counterfactuals} has two rows of the {self.id} "
            refuse_doubled(keys, what, "give each its 'pair_type', or set 'several: true'")
        return Counterfactuals(place, rows, code_texts(types), suffix)

    def _names(self, frame: Frame, column: str | None, expected: str = "a name") -> Texts | None:
        """Names that a column gives to the rows; None without a column."""
        return None if column is None else names_of_rows(frame, column, expected)

    def _make_pairs(
        self,
        factual: PackedRows,
        frame: Frame,
        ids: Texts,
        counterfactual_parts: Sequence[Counterfactuals],
        remarks: Sequence[str],
    ) -> Built:
        count, columns = len(ids), factual.columns
        own_sources = self._names(frame, self.source)
        sources = code_distinct(ids) if own_sources is None else code_texts(own_sources)
        splits = code_texts(self._names(frame, self.split) or Texts.repeat(ALL, count))
        labels = code_texts(self._names(frame, self.label) or Texts.repeat("", count))
        classes = class_ids(labels, self.classes)
        words = code_texts(
            self._names(frame, self.weight, "a number above 0") or Texts.repeat(UNSAID, count)
        )
        weights = weights_of(words, f"table {self.table}")
        groups = combine(
            [
                (name, code_texts(names_of_rows(frame, name, missing=NO_VALUE)))
                for name in self.groups
            ],
            count,
        )
        rows = pair_rows(factual, counterfactual_parts)
        left_out = [*remark_equal(counterfactual_parts, rows)]
        if not rows.row.size:
            raise DataError("; ".join([*left_out, "so there are no pairs: change something else"]))
        used = np.count_nonzero(rows.origin == TABLE_ROW)
        if used < count:
            left_out.append(f"table: rows without a counterfactual: {count - used:,} of {count:,}")
        release_memory()  # of the columns of texts above
        has_presence = any(column.has_presence for column in columns.columns)
        encoding = PRESENCE_ENCODING if has_presence else ENCODING
        pair_ids = rows.pair_ids(ids)
        changed_columns = rows.changed_columns()
        pairs = PairColumns(
            pair_ids,
            sources.take(rows.row),
            rows.pair_type,
            classes.ids[rows.row],
            splits.take(rows.row),
            rows.plus,
            rows.minus,
            rows.feature,
            None,
            weights[rows.row],
            groups.take(rows.row),
        )
        pair_set = PairSet(
            rows.inputs(ids, pair_ids),
            pairs,
            f"{encoding}: {json_sha256(columns.identity)}",
            (*left_out, *remarks, *classes.remarks),
            columns=columns,
            has_labels=classes.has_labels,
            class_names=classes.names,
            has_sorted_names=classes.are_sorted,
            changed_columns=changed_columns,
            column_proxies=list_proxies(columns, factual.parts, rows.changes(), changed_columns),
        )
        release_memory()
        return Built(rows, pair_set)
