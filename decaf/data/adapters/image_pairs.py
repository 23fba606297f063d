"""Images in files and their counterfactuals, paired by a table or by equal names in two folders."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Literal, NamedTuple, cast

import numpy as np
from numpy.typing import NDArray
from pydantic import Field, field_validator, model_validator

from decaf.data.adapters.image_files import (
    Folder,
    ImageFiles,
    cells_by_role,
    label_of,
)
from decaf.data.class_ids import class_ids
from decaf.data.equal_pairs import check_pairs_differ
from decaf.data.input_store import unusable_error
from decaf.data.pairs import Input, Pair, PairSet
from decaf.data.photo_changes import PhotoChange
from decaf.data.photo_files import (
    Header,
    remark_on_compressed_photos,
    remark_on_dark_photos,
    remark_on_decoded_photos,
    turn_in_words,
)
from decaf.data.same_names import pair_names
from decaf.data.swapped_names import refuse_swapped_columns, remark_other_pairs, remark_swapped
from decaf.data.table_files import read_table, unused_columns
from decaf.data.weights import UNSAID, weights_of
from decaf.errors import DataError, SettingError, abridge, number_of, suggestion
from decaf.foundation.digests import json_sha256
from decaf.foundation.names import quote
from decaf.foundation.settings import PlacedPath, ShownName, fault, require_keys

Role = Literal[
    "factual", "counterfactual", "label", "pair_type", "source", "split", "weight", "pair_id"
]
NEEDED: tuple[Role, ...] = ("factual", "counterfactual")
OPTIONAL: tuple[Role, ...] = ("label", "pair_type", "source", "split", "weight", "pair_id")


class Row(NamedTuple):
    """Table row of one pair; images are paths below their folders."""

    factual: str
    counterfactual: str
    label: str
    pair_type: str
    source: str
    split: str
    weight: str
    pair_id: str
    groups: tuple[tuple[str, str], ...]


class ImagePairs(ImageFiles):
    """Pairs of image files: rows of a table, or files of equal names in two folders."""

    adapter: Literal["image_pairs"]
    pairs: PlacedPath | None = Field(
        None,
        description="table with a row for each pair: `.csv`, `.parquet` or `.jsonl`, with the "
        "columns `factual` and `counterfactual` (files of images) and, optionally, "
        "`label`, `pair_type`, `source`, `split`, `weight`, `pair_id`",
    )
    images: PlacedPath | None = Field(
        None, description="folder of the table's files; when absent, that of the table"
    )
    factual: PlacedPath | None = Field(
        None, description="instead of a table: folder of the factual images"
    )
    counterfactual: PlacedPath | None = Field(
        None, description="folder of their counterfactuals, under equal names"
    )
    columns: dict[Role, str] = Field(
        {}, description="names of columns in the table, as in `{factual: before}`"
    )
    groups: tuple[ShownName, ...] = Field(
        (), description="further columns of the table, by whose values reports divide the pairs"
    )

    changes: dict[ShownName, PhotoChange] = Field(
        {},
        description="changes of every factual image by pair type, as a control: `{shifted: "
        "{shift: 4}}`",
    )

    @field_validator("changes")
    @classmethod
    def _are_no_roles(cls, changes: dict[str, PhotoChange]) -> dict[str, PhotoChange]:
        for name in set(changes).intersection(NEEDED):
            raise fault(f"{name!r} is reserved for the images of a pair; rename the change", name)
        return changes

    @model_validator(mode="after")
    def _one_way_to_pair(self) -> "ImagePairs":
        has_folders = self.factual is not None and self.counterfactual is not None
        if (self.pairs is None) != has_folders:
            keys = ", ".join(f"'{key}'" for key in ("pairs", *NEEDED) if getattr(self, key))
            raise fault(
                f"found {keys or 'no key for pairs'}; give either 'pairs' (a table), or 'factual' "
                "and 'counterfactual' (folders)"
            )
        has_table = self.pairs is not None
        require_keys(
            [
                ("factual", not (has_table and self.factual), "no 'pairs'"),
                ("counterfactual", not (has_table and self.counterfactual), "no 'pairs'"),
                ("images", has_table or self.images is None, "a table in 'pairs'"),
                ("columns", has_table or not self.columns, "a table in 'pairs'"),
                ("groups", has_table or not self.groups, "a table in 'pairs'"),
            ]
        )
        return self

    def pair_set(self) -> PairSet:
        """Read the table, or list the folders; digest every file, decode none.

        Raises DataError when the table or a folder cannot be used, a file is missing or lies
        outside of its folder, two rows are one pair, or an image has two labels.
        """
        roots: dict[Role, Path] = {
            role: cast("Path", getattr(self, role) or self._root) for role in NEEDED
        }
        rows, remarks = self._of_folders() if self.pairs is None else self._of_table()
        classes = class_ids(
            [row.label for row in rows], self.classes, [row.factual for row in rows]
        )
        files = _checked_files(roots, rows)
        weights = weights_of([row.weight for row in rows], f"table {self.pairs}")
        labels: dict[tuple[Role, str], str] = {}
        for row in rows:
            for role in NEEDED:
                file = getattr(row, role)
                if (first_label := labels.setdefault((role, file), row.label)) != row.label:
                    raise DataError(
                        f"{role} image {quote(file)} has the labels {quote(first_label)} and "
                        f"{quote(row.label)}; expected one label for each image"
                    )
        positions = {key: place for place, key in enumerate(labels)}
        pairs = [
            Pair(
                pair_id=row.pair_id,
                source_id=row.source,
                pair_type=row.pair_type,
                class_id=class_id,
                split=row.split,
                plus=positions["factual", row.factual],
                minus=positions["counterfactual", row.counterfactual],
                weight=weight,
                groups=row.groups,
            )
            for row, class_id, weight in zip(rows, classes.ids, weights, strict=True)
        ]
        images = [
            Input(f"{role}/{file}", role, *files[role, file], file) for role, file in positions
        ]
        changed_pairs, changed_images = self._pair_with_changes(pairs, images)
        pairs += changed_pairs
        inputs = self.with_shapes([*images, *changed_images])
        place = self.pairs or self.counterfactual
        equal = check_pairs_differ(pairs, inputs, place, "changed copies of the factual images")
        remarks = (*remarks, *equal, *classes.remarks, *self._remarks_on_headers(inputs, pairs))
        return PairSet(
            inputs,
            tuple(pairs),
            self.construction,
            remarks,
            has_labels=classes.has_labels,
            class_names=classes.names,
            has_sorted_names=classes.are_sorted,
        )

    def _pair_with_changes(
        self, pairs: Sequence[Pair], images: Sequence[Input]
    ) -> tuple[list[Pair], list[Input]]:
        """Pair every factual image with itself under each of `changes`; return pairs and images.

        Raises SettingError for a change that has the name of a type of other pairs.
        """
        first = {pair.plus: pair for pair in reversed(pairs)}
        changed_pairs: list[Pair] = []
        changed_images: list[Input] = []
        for name, change in self.changes.items():
            if any(pair.pair_type == name for pair in pairs):
                message = f"pairs of the data already have the type {name!r}; rename the change"
                raise SettingError(message, "changes", name)
            for plus in sorted(first):
                image, minus = images[plus], len(images) + len(changed_images)
                image_id, digest = (
                    f"{name}/{image.file}",
                    json_sha256([image.digest, change.model_dump()]),
                )
                changed_pairs.append(
                    replace(first[plus], pair_id=image_id, pair_type=name, minus=minus)
                )
                changed_images.append(
                    replace(image, image_id=image_id, variant=name, digest=digest, file=None)
                )
        return changed_pairs, changed_images

    def read_input(self, image: Input) -> NDArray[np.uint8]:
        """Read the file as :class:`ImageFiles` does, and change it if the image is of `changes`."""
        pixels = super().read_input(image)
        change = self.changes.get(image.variant)
        return pixels if change is None else change.apply(pixels)

    def verify(self, pairs: PairSet) -> None:
        """Check from their headers that both images of a pair have one size.

        Raises DataError, naming images that differ or are refused.
        """
        faults: dict[str, None] = {}
        headers = self.headers(pairs.inputs, faults)
        for pair in pairs.pairs:
            both = [pairs.inputs[place].location for place in (pair.plus, pair.minus)]
            first, second = (headers.get(file) for file in both)
            if first and second and first.upright() != second.upright():
                (width, height), (changed_width, changed_height) = first.upright(), second.upright()
                faults[
                    f"pair {pair.pair_id}: {both[0]} has {width} x {height} pixels"
                    f"{turn_in_words(first)} and {both[1]} {changed_width} x {changed_height}"
                    f"{turn_in_words(second)}; expected one size, or more than the change would "
                    "differ"
                ] = None
        if faults:
            raise unusable_error(faults, "images or pairs")

    def _remarks_on_headers(self, inputs: Sequence[Input], pairs: Sequence[Pair]) -> Iterator[str]:
        """Remarks on 12-bit photos, and on pairs of other channels, compression or orientation."""
        headers = self.headers(inputs, {})  # photos that are refused are named by verify()
        if remark := remark_on_dark_photos(headers):
            yield remark
        files = {
            pair.pair_id: (inputs[pair.plus].location, inputs[pair.minus].location)
            for pair in pairs
            if inputs[pair.plus].location != inputs[pair.minus].location
        }
        if self.channels > 1:
            yield from remark_on_decoded_photos(files, headers)
        yield from remark_on_compressed_photos(files.values(), headers)
        pair_ids = []
        for pair in pairs:
            both = [headers.get(inputs[place].location) for place in (pair.plus, pair.minus)]
            first, second = (header or Header((0, 0)) for header in both)
            is_open = first.size == second.size and first.upright() == second.upright()
            if is_open and (first.orientation or 1) != (second.orientation or 1):
                pair_ids.append(pair.pair_id)
        if pair_ids:
            yield (
                f"in {len(pair_ids)} of {len(pairs)} pairs the EXIF orientations of the two photos "
                "differ, and decaf cannot tell whether one of them was lost; check that both "
                f"photos are upright: {abridge(pair_ids)}"
            )

    @property
    def _root(self) -> Path | None:
        return self.images or (self.pairs and self.pairs.parent)

    def _of_table(self) -> tuple[list[Row], tuple[str, ...]]:
        path = cast("Path", self.pairs)
        table = read_table(path)
        names = {role: self.columns.get(role, role) for role in (*NEEDED, *OPTIONAL)}
        for role, name in names.items():
            if name not in table and (role in NEEDED or role in self.columns):
                raise DataError(
                    f"table {self.pairs} has no column {quote(name)}{suggestion(name, table)}; "
                    f"if it has another name, set 'columns: {{{role}: NAME}}'"
                )
        refuse_swapped_columns(
            table,
            [names[role] for role in NEEDED],
            [names[role] for role in ("label", "pair_type", "split")],
            cast("Path", self._root),
            path,
        )
        for name in self.groups:
            if name not in table:
                message = f"'groups:' names the column {name!r}, which {self.pairs} lacks"
                raise SettingError(f"{message}{suggestion(name, table)}", "groups")
        cells = cells_by_role(table, path, names)
        group_columns = dict(zip(self.groups, self.groups, strict=True))
        groups = cells_by_role(table, path, group_columns) if group_columns else [{}] * len(cells)
        rows = self._distinct(cells, groups)
        unused = unused_columns(table, [*names.values(), *self.groups])
        return rows, (*unused, *self._remarks_on_names(names, rows))

    def _remarks_on_names(self, names: Mapping[Role, str], rows: Sequence[Row]) -> Iterator[str]:
        """Remark on columns, or else on files, that seem to be swapped or shifted."""
        by_column = remark_swapped([names["factual"]], [names["counterfactual"]])
        files = [row.factual for row in rows], [row.counterfactual for row in rows]
        yield from by_column or remark_swapped(*files)
        yield from remark_other_pairs([*zip(*files, strict=True)])

    def _distinct(self, said: list[dict[Role, str]], groups: list[dict[str, str]]) -> list[Row]:
        """Rows, with defaults for columns that the table lacks; refuses two rows of one name."""
        rows: list[Row] = []
        first: dict[str, int] = {}
        for number, (cells, row_groups) in enumerate(zip(said, groups, strict=True), 1):
            files = {role: Path(cells[role]).as_posix() for role in NEEDED}
            row = _row({**cells, **files}, tuple(row_groups.items()))
            if (first_number := first.setdefault(row.pair_id, number)) != number:
                raise DataError(
                    f"table {self.pairs}: rows {first_number} and {number} are the same pair, "
                    f"{quote(row.pair_id)}; remove one, or give them different 'pair_id's"
                )
            rows.append(row)
        return rows

    def _of_folders(self) -> tuple[list[Row], tuple[str, ...]]:
        """Files that both folders have; labels are the names of the folders that they lie in."""
        folders = (cast("Path", self.factual), cast("Path", self.counterfactual))
        first, second = (Folder(folder).files() for folder in folders)
        matches = pair_names(first, second, [*map(str, folders)])
        if not matches.of_image:
            raise DataError(
                f"{folders[0]} has {number_of(len(first), 'file')} ({abridge(first)}), "
                f"{folders[1]} has {len(second)} ({abridge(second)}), and no names are equal; "
                "expected equal names, also in capitals, for the two images of a pair"
            )
        rows = [
            _row(
                {
                    "factual": name,
                    "counterfactual": matches.of_image[name],
                    "pair_id": name,
                    "label": label_of(name),
                }
            )
            for name in first
            if name in matches.of_image
        ]
        remarks = [*remark_swapped([folders[0].name], [folders[1].name])]
        if matches.by_stem:
            pairs = [f"{name} and {changed}" for name, changed in sorted(matches.by_stem.items())]
            remarks.append(f"pairs of files with two suffixes: {len(pairs)} ({abridge(pairs)})")
        paired = {*matches.of_image, *matches.of_image.values()}
        if alone := sorted({*first, *second} - paired):
            count = len(alone)
            remarks.append(f"files that one folder lacks are left out: {count} ({abridge(alone)})")
        return rows, tuple(remarks)


def _row(said: Mapping[Role, str], groups: tuple[tuple[str, str], ...] = ()) -> Row:
    factual = said["factual"]
    unsaid: dict[Role, str] = {
        "label": "",
        "pair_type": "pair",
        "source": factual,
        "split": "all",
        "weight": UNSAID,
        "pair_id": f"{factual}__{said['counterfactual']}",
    }
    return Row(**{**unsaid, **said}, groups=groups)


def _checked_files(
    roots: dict[Role, Path], rows: list[Row]
) -> dict[tuple[Role, str], tuple[str, str]]:
    """Digest and place of every file, by its role and name; raises DataError, naming faults."""
    folders = {role: Folder(root) for role, root in roots.items()}
    files: dict[tuple[Role, str], tuple[str, str]] = {}
    faults: dict[str, None] = {}
    for role, name in dict.fromkeys((role, getattr(row, role)) for row in rows for role in NEEDED):
        try:
            files[role, name] = folders[role].file(name)
        except DataError as error:
            faults[str(error)] = None
    if faults:
        raise unusable_error(faults, "images")
    return files
