"""Images in files and their counterfactuals, paired by a table or by equal names in two folders."""

from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any, Literal, NamedTuple, cast

import numpy as np
from numpy.typing import NDArray
from pydantic import Field, model_validator

from decaf.data.adapters.base import Adapter
from decaf.data.class_ids import class_ids
from decaf.data.input_store import unusable
from decaf.data.pairs import Input, Pair, PairSet
from decaf.data.photo_files import central_crop, fitted_size, read_photo, upright_size
from decaf.data.table_files import read_table
from decaf.errors import DataError, listed, suggestion
from decaf.foundation.digests import file_sha256
from decaf.foundation.files import is_inside, refusals_as
from decaf.foundation.names import fault_of, shown
from decaf.foundation.settings import PlacedPath, fault, require_keys

Role = Literal["factual", "counterfactual", "label", "pair_type", "source", "split", "pair_id"]
NEEDED: tuple[Role, ...] = ("factual", "counterfactual")
OPTIONAL: tuple[Role, ...] = ("label", "pair_type", "source", "split", "pair_id")
LARGEST_SIDE = 4096


class Row(NamedTuple):
    """What is said of one pair; images are paths below their folders."""

    factual: str
    counterfactual: str
    label: str
    pair_type: str
    source: str
    split: str
    pair_id: str


class ImagePairs(Adapter):
    """Pairs of image files: rows of a table, or files of equal names in two folders."""

    adapter: Literal["image_pairs"]
    pairs: PlacedPath | None = Field(
        None,
        description="table with a row for each pair: `.csv`, `.parquet` or `.jsonl`, with the "
        "columns `factual` and `counterfactual` (files of images) and, where there are such, "
        "`label`, `pair_type`, `source`, `split`, `pair_id`",
    )
    images: PlacedPath | None = Field(
        None, description="folder that the table's files lie in; that of the table when absent"
    )
    factual: PlacedPath | None = Field(
        None, description="instead of a table: folder of the factual images"
    )
    counterfactual: PlacedPath | None = Field(
        None, description="folder of their counterfactuals, under equal names"
    )
    columns: dict[Role, str] = Field(
        {}, description="what the table calls its columns, as in `{factual: before}`"
    )
    classes: tuple[int | str, ...] = Field(
        (),
        description="names of classes 0, 1, … among the labels; when absent, labels that are whole "
        "numbers are class numbers, and others are counted in the order of their sorted names",
    )
    resize: int | None = Field(
        None,
        gt=0,
        le=LARGEST_SIDE,
        description="the shorter side of every image is resized to it, px, bilinear",
    )
    crop: int | None = Field(
        None,
        gt=0,
        le=LARGEST_SIDE,
        description="side of the central square that is kept, px; the whole image when absent",
    )

    @model_validator(mode="after")
    def _one_way_to_pair(self) -> "ImagePairs":
        has_folders = self.factual is not None and self.counterfactual is not None
        if (self.pairs is None) != has_folders:
            raise fault("give either 'pairs' (a table) or 'factual' and 'counterfactual' (folders)")
        has_table = self.pairs is not None
        fits = self.crop is None or self.resize is None or self.crop <= self.resize
        require_keys(
            [
                ("factual", not (has_table and self.factual), "no 'pairs' beside it"),
                ("counterfactual", not (has_table and self.counterfactual), "no 'pairs' beside it"),
                ("images", has_table or self.images is None, "a table in 'pairs'"),
                ("columns", has_table or not self.columns, "a table in 'pairs'"),
                ("crop", fits, f"'resize' of at least {self.crop}"),
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
        classes = class_ids([row.label for row in rows], self.classes)
        files = _checked_files(roots, rows)
        labels: dict[tuple[Role, str], str] = {}
        for row in rows:
            for role in NEEDED:
                file = getattr(row, role)
                if (known := labels.setdefault((role, file), row.label)) != row.label:
                    raise DataError(
                        f"{role} image {shown(file)} has the labels {shown(known)} and "
                        f"{shown(row.label)}; expected one label for each image"
                    )
        positions = {key: place for place, key in enumerate(labels)}
        pairs = tuple(
            Pair(
                pair_id=row.pair_id,
                source_id=row.source,
                pair_type=row.pair_type,
                class_id=class_id,
                split=row.split,
                plus=positions["factual", row.factual],
                minus=positions["counterfactual", row.counterfactual],
            )
            for row, class_id in zip(rows, classes.ids, strict=True)
        )
        resized = "as stored" if self.resize is None else f"bilinear {self.resize}"
        geometry = f"pillow {resized}" + (f" crop {self.crop}" if self.crop else "")
        inputs = tuple(
            Input(f"{role}/{file}", role, *files[role, file], file) for role, file in positions
        )
        return PairSet(inputs, pairs, geometry, (*remarks, *classes.remarks))

    def verify(self, pairs: PairSet) -> None:
        """Check from their headers that images come out of one size, both of a pair the same way.

        Raises DataError, naming images that differ or are refused.
        """
        sizes: dict[str, tuple[int, int]] = {}
        faults: dict[str, None] = {}
        expected = ""
        for image in pairs.inputs:
            try:
                sizes[image.location] = upright_size(Path(image.location))
                width, height = self._fitted(image, sizes[image.location])
            except DataError as error:
                faults[str(error)] = None
                continue
            expected = expected or f"{width} x {height}, as {image.location} has it"
            if not expected.startswith(f"{width} x {height},"):
                faults[
                    f"{image.location} has {width} x {height} pixels; expected {expected}: bring "
                    "all to one size, or set 'resize:' and 'crop:'"
                ] = None
        for pair in pairs.pairs:
            both = [pairs.inputs[place].location for place in (pair.plus, pair.minus)]
            first, second = (sizes.get(file) for file in both)
            if first and second and first != second:
                faults[
                    f"pair {pair.pair_id}: {both[0]} has {first[0]} x {first[1]} pixels and "
                    f"{both[1]} {second[0]} x {second[1]}; expected one size, or more than "
                    "the change would differ"
                ] = None
        if faults:
            raise unusable(faults, "images or pairs")

    def read_input(self, image: Input) -> NDArray[np.uint8]:
        """Decode, turn upright, resize and crop as the settings say: (height, width, 3)."""
        photo = read_photo(Path(image.location))
        self._fitted(image, photo.size)
        return central_crop(photo, self.resize, self.crop)

    @property
    def _root(self) -> Path | None:
        return self.images or (self.pairs and self.pairs.parent)

    def _fitted(self, image: Input, size: tuple[int, int]) -> tuple[int, int]:
        """Width and height that an image comes out with."""
        try:
            fitted = fitted_size(size, self.resize, self.crop)
        except DataError as error:
            raise DataError(f"{image.location} cannot be used: {error}") from error
        return fitted if self.crop is None else (self.crop, self.crop)

    def _of_table(self) -> tuple[list[Row], tuple[str, ...]]:
        table = read_table(cast("Path", self.pairs), typed=False)
        names = {role: self.columns.get(role, role) for role in (*NEEDED, *OPTIONAL)}
        for role, name in names.items():
            if name not in table and (role in NEEDED or role in self.columns):
                raise DataError(
                    f"table {self.pairs} has no column {shown(name)}{suggestion(name, table)}; "
                    f"say 'columns: {{{role}: NAME}}' where it is called otherwise"
                )
        of_role = {role: table[name] for role, name in names.items() if name in table}
        self._check_filled(of_role, names)
        unused = [shown(name) for name in table if name not in names.values()]
        remarks = (f"columns that are not used: {listed(unused)}",) if unused else ()
        return self._distinct(of_role), remarks

    def _check_filled(self, of_role: Mapping[Role, list[Any]], names: dict[Role, str]) -> None:
        for role, values in of_role.items():
            row = next((row for row, value in enumerate(values, 1) if not value), None)
            if row is not None:
                raise DataError(
                    f"table {self.pairs}, row {row}: column {shown(names[role])} is empty; "
                    "expected a value in every row, or no such column"
                )

    def _distinct(self, of_role: Mapping[Role, list[Any]]) -> list[Row]:
        """Rows with what is said when the table does not say it; refuses two of one name."""
        rows: list[Row] = []
        first: dict[str, int] = {}
        for number, values in enumerate(zip(*of_role.values(), strict=True), 1):
            said = dict(zip(of_role, values, strict=True))
            said |= {role: Path(said[role]).as_posix() for role in NEEDED}
            row = _row(said)
            if (other := first.setdefault(row.pair_id, number)) != number:
                raise DataError(
                    f"table {self.pairs}: rows {other} and {number} are one pair, "
                    f"{shown(row.pair_id)}; take one out, or give each a 'pair_id' of its own"
                )
            rows.append(row)
        return rows

    def _of_folders(self) -> tuple[list[Row], tuple[str, ...]]:
        """Files that both folders have; labels are the names of the folders that they lie in."""
        folders = (self.factual, self.counterfactual)
        first, second = (sorted(_files_below(cast("Path", folder))) for folder in folders)
        shared = set(second).intersection(first)
        if not shared:
            raise DataError(
                f"{folders[0]} has {len(first)} files and {folders[1]} {len(second)}, none of "
                "which are called the same; expected equal names for images that are a pair"
            )
        rows = [
            _row({"factual": name, "counterfactual": name, "pair_id": name} | _label_of(name))
            for name in first
            if name in shared
        ]
        alone = sorted({*first, *second} - shared)
        remark = f"{len(alone)} files are left out, since one folder lacks them: {listed(alone)}"
        return rows, (remark,) if alone else ()


def _row(said: dict[str, str]) -> Row:
    factual, kind = said["factual"], said.get("pair_type", "pair")
    unsaid = {
        "label": "0",
        "pair_type": kind,
        "source": factual,
        "split": "all",
        "pair_id": f"{factual}__{said['counterfactual']}",
    }
    return Row(**unsaid | said)


def _label_of(name: str) -> dict[str, str]:
    folder = Path(name).parent.as_posix()
    return {} if folder == "." else {"label": folder}


def _files_below(folder: Path) -> Iterator[str]:
    """Files of a folder and of those in it, as paths below it; hidden ones are left out."""
    if not folder.is_dir():
        raise DataError(f"{folder} is no folder; expected one of images")
    for file in folder.rglob("*"):
        below = file.relative_to(folder)
        if not file.is_dir() and not any(part.startswith(".") for part in below.parts):
            yield below.as_posix()


def _checked_files(
    roots: dict[Role, Path], rows: Iterable[Row]
) -> dict[tuple[Role, str], tuple[str, str]]:
    """Digest and place of every file, by its role and name.

    Raises DataError, naming the files that are missing, are none, or lie outside of their folder:
    a table of somebody else must not show what is elsewhere on this machine.
    """
    found: dict[tuple[Role, str], tuple[str, str]] = {}
    faults: dict[str, None] = {}
    for key in dict.fromkeys((role, getattr(row, role)) for row in rows for role in NEEDED):
        role, name = key
        place = roots[role] / name
        try:
            if problem := fault_of(name):
                raise DataError(f"the name {shown(name)} of an image {problem}")
            if not is_inside(place, roots[role]):
                raise DataError(
                    f"{shown(name)} lies outside of {roots[role]}; put it there, or name a folder "
                    "that holds all images"
                )
            with refusals_as(DataError, f"image {place}", "put it there, or correct its name"):
                found[key] = file_sha256(place), str(place.resolve())
        except DataError as error:
            faults[str(error)] = None
    if faults:
        raise unusable(faults, "images")
    return found
