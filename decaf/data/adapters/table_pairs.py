"""Rows of a table and their counterfactuals: from a second table, from changes, or from removal."""

import hashlib
from collections import Counter
from collections.abc import Iterator, Sequence
from functools import cached_property
from typing import Any, Literal, NamedTuple, cast

import numpy as np
from numpy.typing import NDArray
from pydantic import Field, model_validator

from decaf.data.adapters.base import Adapter
from decaf.data.class_ids import CLASSES, ClassNames, class_ids, names_of
from decaf.data.column_remarks import number_columns, remark_marks, remark_widths
from decaf.data.frame_libraries import Frame
from decaf.data.frames import FrameSchema
from decaf.data.missing_words import Declarations, remark_words
from decaf.data.pairs import ALL, Input, Pair, PairSet
from decaf.data.row_names import names_of_rows, refuse_doubled
from decaf.data.table_changes import Change
from decaf.data.table_files import unused_columns
from decaf.data.typed_frames import Dtype, read_frame, strange_values, text_values, typed_as
from decaf.data.weights import UNSAID, weights_of
from decaf.errors import MOST_KNOWN, DataError, SettingError, listed, suggestion
from decaf.foundation.digests import json_sha256
from decaf.foundation.settings import PlacedPath, ShownName, fault, require_keys, setting

ENCODING = "table_pairs 1"
"""Names how rows become values; changes when a change here changes them."""
PAIR_TYPE = "pair"
"""Type where nothing says it."""


class Counterfactuals(NamedTuple):
    """Counterfactual rows of one origin, each with the row that it belongs to."""

    place: NDArray[np.int64]
    """(m,) rows of the table."""
    values: NDArray[np.floating]
    """(m, width) as values."""
    pair_type: Sequence[str]
    """(m,)."""
    suffix: Sequence[str]
    """(m,) what follows row and type in the name of the pair."""
    feature: int = 0


class Built(NamedTuple):
    """What files and settings make: rows as values, and what points at them."""

    rows: list[NDArray[np.floating]]
    pairs: PairSet


class _Inputs(NamedTuple):
    """Rows that pairs use, in the order of their positions."""

    images: list[Input]
    rows: list[NDArray[np.floating]]

    def add(self, name: str, variant: str, values: NDArray[np.floating]) -> int:
        """Position of one more row."""
        digest = hashlib.sha256(np.ascontiguousarray(values).data).hexdigest()
        self.images.append(Input(name, variant, digest, str(len(self.rows))))
        self.rows.append(values)
        return len(self.rows) - 1


class TablePairs(Adapter):
    """Rows of a table in a file, paired with counterfactual rows, or without a column.

    A model is called with rows as it was fitted: a frame of the types that the columns have.
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
        description="file of counterfactual rows with the same columns; the `id` says of which row "
        "each is",
    )
    several: bool = Field(
        False, description="whether a row may have several counterfactuals of one type there"
    )
    pair_type: str | None = Field(
        None,
        description="column of `counterfactuals` that says which change was made; all are "
        "`pair` when absent",
    )
    changes: dict[ShownName, Change] = Field(
        {},
        description="changes of named columns by the type of the pairs they make, each a mapping "
        "of `set`, `multiply`, `add`, `swap` and `permute`",
    )
    removed: tuple[str, ...] = Field(
        (),
        description="columns that are removed one at a time, for `removal` paths: pairs of a row "
        "with itself, of the type `without COLUMN`",
    )
    label: str | None = Field(
        None,
        description="column of the class whose score is q, number or name; class 0 when absent",
    )
    classes: ClassNames = Field((), description=CLASSES)
    source: str | None = Field(
        None, description="column whose equal values are resampled together; the row when absent"
    )
    split: str | None = Field(None, description="column that says which split a row is of")
    weight: str | None = Field(
        None,
        description="column that says how much the pairs of a row count in means; 1 when absent",
    )
    groups: tuple[ShownName, ...] = Field(
        (),
        description="columns of `table` by whose values reports divide the pairs; the model takes "
        "them too, unless `drop` or `inputs` leave them out",
    )
    inputs: tuple[str, ...] = Field(
        (),
        description="columns that the model takes; all when absent, but those that other keys name "
        "for other purposes",
    )
    drop: tuple[str, ...] = Field((), description="columns that are no inputs, beside those")
    dtypes: dict[str, Dtype] = Field(
        {}, description="types of columns as pandas calls them, where the file's are others"
    )
    categories: dict[str, tuple[bool | int | float | str, ...]] = Field(
        {},
        description="values by column, in their order, of columns that the model was fitted on as "
        "pandas' `category`",
    )

    @model_validator(mode="after")
    def _makes_pairs(self) -> "TablePairs":
        if not (self.counterfactuals or self.changes or self.removed):
            raise fault("give 'counterfactuals' (a table), 'changes', or 'removed' (columns)")
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
        return self._built.pairs

    def verify(self, pairs: PairSet) -> None:
        """Accept: all rows have the columns of one table."""

    def read_input(self, image: Input) -> NDArray[np.floating]:
        """(width,) one row as values."""
        return self._built.rows[int(image.location)]

    def __getstate__(self) -> dict[str, Any]:
        state = super().__getstate__()
        # Workers read rows from the store.
        own = {name: value for name, value in state["__dict__"].items() if name != "_built"}
        return state | {"__dict__": own}

    @cached_property
    def _built(self) -> Built:
        declarations = self._declarations()
        table = read_frame(self.table, self.dtypes, self.categories, declarations)
        frame = table.frame
        self._check_names(frame)
        ids = self._ids(frame)
        names = self._input_names(frame)
        used = {*names, self.id, self.label, self.source, self.split, self.weight, *self.groups}
        used |= {change.permute.within for change in self.changes.values() if change.permute}
        remarks = [f"table: {remark}" for remark in remark_words(table, used)]
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
            other = typed_as(second.frame, frame, names)
            used = {*names, self.id, self.pair_type}
            found = (
                *strange_values(other, frame, names),
                *unused_columns(other, {*used, *self.drop}),
                *remark_words(second, used),
            )
            remarks += [f"counterfactuals: {remark}" for remark in found]
            frames.append(other[names])
        columns = FrameSchema.of(*frames)
        factual = columns.encode(frames[0])
        remarks += [*remark_widths(columns, "name it under 'drop:'")]
        remarks += remark_marks(number_columns(columns, factual))
        every = [*self._removed(columns, factual), *self._changed(columns, factual, frame)]
        if self.counterfactuals is not None:
            every.append(self._joined(columns.encode(frames[1]), other, ids))
        return self._paired(columns, factual, frame, ids, every, remarks)

    def _declarations(self) -> Declarations:
        """Values that settings name, and columns of names: none of them is a missing value."""
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
                    known = suggestion(name, map(str, frame.columns))
                    raise SettingError(f"{message}{known}", key)

    def _input_names(self, frame: Frame) -> list[str]:
        others = {self.id, self.label, self.source, self.split, self.weight, self.pair_type}
        others.update(self.drop)
        names = [*self.inputs] or [name for name in frame.columns if name not in others]
        if not names:
            raise DataError(f"{self.table} has no column that is an input; correct 'drop:'")
        return names

    def _ids(self, frame: Frame) -> list[str]:
        ids = [*map(str, range(len(frame)))] if self.id is None else names_of_rows(frame, self.id)
        refuse_doubled(ids, f"{self.table} has two rows with the {self.id} ", "give each its own")
        return ids

    def _removed(
        self, columns: FrameSchema, factual: NDArray[np.floating]
    ) -> Iterator[Counterfactuals]:
        names = [column.name for column in columns.columns]
        for name in self.removed:
            if name not in names:
                message = f"'removed:' names {name!r}, which is no input of the model"
                raise SettingError(message, "removed")
            count = len(factual)
            types = [f"without {name}"] * count
            feature = names.index(name) + 1
            yield Counterfactuals(np.arange(count), factual, types, [""] * count, feature)

    def _changed(
        self, columns: FrameSchema, factual: NDArray[np.floating], frame: Frame
    ) -> Iterator[Counterfactuals]:
        def groups(name: str) -> NDArray[np.int64]:
            if name not in frame:
                raise DataError(f"'within: {name}' is no column of {self.table}")
            return np.unique(frame[name].astype(str).to_numpy(str), return_inverse=True)[1]

        for pair_type, change in self.changes.items():
            count = len(factual)
            with setting("changes", pair_type):
                values = change.applied(columns, factual, groups)
            yield Counterfactuals(np.arange(count), values, [pair_type] * count, [""] * count)

    def _joined(
        self, values: NDArray[np.floating], other: Frame, ids: list[str]
    ) -> Counterfactuals:
        """The rows of the second table, each with its row of the first one."""
        own, place_of = (
            names_of_rows(other, cast("str", self.id)),
            {name: place for place, name in enumerate(ids)},
        )
        if strange := sorted(set(own) - place_of.keys()):
            raise DataError(
                f"{self.counterfactuals} has rows of the {self.id} {listed(strange)}, which "
                f"{self.table} lacks; correct the ids, or add the rows"
            )
        types = [PAIR_TYPE] * len(own)
        if self.pair_type is not None:
            if self.pair_type not in other:
                message = f"{self.counterfactuals} lacks the column {self.pair_type!r}"
                raise SettingError(f"{message}{suggestion(self.pair_type, other)}", "pair_type")
            types = names_of_rows(other, self.pair_type)
        keys = [f"{name} ({pair_type})" for name, pair_type in zip(own, types, strict=True)]
        suffix = [""] * len(own)
        if self.several:
            seen: dict[str, int] = {}
            for row, key in enumerate(keys):
                seen[key] = seen.get(key, 0) + 1
                suffix[row] = f"__{seen[key]}"
        else:
            what = f"{self.counterfactuals} has two rows of the {self.id} "
            refuse_doubled(keys, what, "give each its 'pair_type', or set 'several: true'")
        return Counterfactuals(np.array([place_of[name] for name in own]), values, types, suffix)

    def _paired(
        self,
        columns: FrameSchema,
        factual: NDArray[np.floating],
        frame: Frame,
        ids: list[str],
        every: Sequence[Counterfactuals],
        remarks: Sequence[str],
    ) -> Built:
        sources = ids if self.source is None else names_of_rows(frame, self.source)
        splits = [ALL] * len(ids) if self.split is None else names_of_rows(frame, self.split)
        labels = [""] * len(ids) if self.label is None else names_of_rows(frame, self.label)
        classes = class_ids(labels, self.classes)
        said = [UNSAID] * len(ids) if self.weight is None else names_of_rows(frame, self.weight)
        weights = weights_of(said, f"table {self.table}")
        groups = [[(name, one) for one in names_of_rows(frame, name)] for name in self.groups]
        kept, pairs, plus_of = _Inputs([], []), [], {}
        asked: Counter[str] = Counter()
        equal: Counter[str] = Counter()
        for origin in every:
            differs = (origin.values != factual[origin.place]).any(axis=1)
            if not origin.feature:
                asked.update(origin.pair_type)
                equal.update(origin.pair_type[place] for place in np.flatnonzero(~differs).tolist())
            for number in np.flatnonzero(differs | bool(origin.feature)).tolist():
                row, pair_type = int(origin.place[number]), origin.pair_type[number]
                if row not in plus_of:
                    plus_of[row] = kept.add(f"factual/{ids[row]}", "factual", factual[row])
                pair_id = f"{ids[row]}__{pair_type}{origin.suffix[number]}"
                name = f"counterfactual/{pair_id}"
                pairs.append(
                    Pair(
                        pair_id=pair_id,
                        source_id=sources[row],
                        pair_type=pair_type,
                        class_id=classes.ids[row],
                        split=splits[row],
                        plus=plus_of[row],
                        minus=plus_of[row]
                        if origin.feature
                        else kept.add(name, pair_type, origin.values[number]),
                        feature=origin.feature,
                        weight=weights[row],
                        groups=tuple(own[row] for own in groups),
                    )
                )
        left = []
        if equal:
            types = [f"{name} {n:,} of {asked[name]:,}" for name, n in sorted(equal.items())]
            left.append(
                "table: counterfactuals that equal their row are left out: "
                f"{equal.total():,} of {asked.total():,} ({listed(types, MOST_KNOWN)})"
            )
        if not pairs:
            raise DataError("; ".join([*left, "so there are no pairs: change something else"]))
        if len(plus_of) < len(ids):
            left.append(
                f"table: rows without a counterfactual: {len(ids) - len(plus_of):,} of {len(ids):,}"
            )
        geometry = f"{ENCODING}: {json_sha256(columns.identity)}"
        pair_set = PairSet(
            tuple(kept.images),
            tuple(pairs),
            geometry,
            (*left, *remarks, *classes.remarks),
            columns=columns,
            has_labels=classes.has_labels,
            class_names=classes.names,
            has_sorted_names=classes.are_sorted,
        )
        return Built(kept.rows, pair_set)
