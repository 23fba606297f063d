"""Base of data sets of image files: listing, digests, resize, crop, and refusals."""

import os
from abc import ABC
from collections.abc import Iterable, Mapping
from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray
from pydantic import Field, model_validator

from decaf.data.adapters.base import Adapter
from decaf.data.class_ids import CLASSES, ClassNames
from decaf.data.input_store import unusable_error
from decaf.data.pairs import Input
from decaf.data.photo_files import (
    Header,
    central_crop,
    fitted_size,
    read_header,
    read_photo,
)
from decaf.data.same_names import other_suffixes
from decaf.data.table_files import Columns
from decaf.errors import DataError, abridge
from decaf.foundation.digests import file_sha256
from decaf.foundation.files import convert_os_errors, describe_link, start_of
from decaf.foundation.names import fault_of, quote
from decaf.foundation.settings import require_keys

LARGEST_SIDE = 4096


class ImageFiles(Adapter, ABC):
    """Images in files; an input's location is its file."""

    classes: ClassNames = Field(
        (),
        description=CLASSES,
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

    channels: Literal[1, 3] = Field(
        3,
        description="channels that models get: `1` is grey, .299 red + .587 green + .114 blue as "
        "in Pillow's mode `L`, for networks with one channel; with `3`, grey images have three "
        "equal channels",
    )

    @model_validator(mode="after")
    def _crop_fits(self) -> "ImageFiles":
        fits = self.crop is None or self.resize is None or self.crop <= self.resize
        require_keys([("crop", fits, f"'resize' of at least {self.crop}")])
        return self

    @property
    def construction(self) -> str:
        """Steps that make inputs from files, as a part of their identity."""
        resized = "as stored" if self.resize is None else f"bilinear {self.resize} rounded down"
        grey = " grey" if self.channels == 1 else ""
        return f"pillow {resized}" + (f" centre {self.crop}" if self.crop else "") + grey

    def read_input(self, image: Input) -> NDArray[np.uint8]:
        """Decode, turn upright, make grey, resize and crop: (height, width, channels)."""
        photo = read_photo(Path(image.location))
        self.final_size(image.location, photo.size)
        if self.channels == 1:
            return central_crop(photo.convert("L"), self.resize, self.crop)[..., None]
        return central_crop(photo, self.resize, self.crop)

    def final_size(self, file: str, size: tuple[int, int]) -> tuple[int, int]:
        """Width and height, px, of an image of ``size`` after resize and crop.

        Raises DataError, naming the file, if it is too small for the crop.
        """
        try:
            fitted = fitted_size(size, self.resize, self.crop)
        except DataError as error:
            raise DataError(f"{file} cannot be used: {error}") from error
        return (self.crop, self.crop) if self.crop else fitted

    def with_shapes(self, images: Iterable[Input]) -> tuple[Input, ...]:
        """Add the shapes of images, from their headers; with a crop, images stay unchanged.

        Raises DataError with the names of refused images.
        """
        images, faults = tuple(images), dict[str, None]()
        if self.crop:
            return images
        headers = self.headers(images, faults)
        if faults:
            raise unusable_error(faults, "images")
        sizes = {file: self.final_size(file, header.upright()) for file, header in headers.items()}
        return tuple(
            replace(image, shape=(*sizes[image.location][::-1], self.channels)) for image in images
        )

    def headers(self, images: Iterable[Input], faults: dict[str, None]) -> dict[str, Header]:
        """Size and orientation of every file that can be read, from its header.

        Adds the faults of refused files to ``faults``.
        """
        headers: dict[str, Header] = {}
        for image in images:
            try:
                header = read_header(Path(image.location))
                self.final_size(image.location, header.upright())
            except DataError as error:
                faults[str(error)] = None
                continue
            headers[image.location] = header
        return headers


class Folder:
    """A folder of images, whose files are named by their paths below it."""

    def __init__(self, root: Path) -> None:
        self.root = root
        # Folders are resolved once, which is most of the work for many small files.
        self._resolved = cache(os.path.realpath)

    def files(self) -> list[str]:
        """Files of the folder and its subfolders, sorted, without hidden files.

        Raises DataError if it is not a folder, or cannot be read.
        """
        if not self.root.is_dir():
            expected = f"expected one of images{start_of(self.root)}"
            raise DataError(f"{self.root} is not a folder; {expected}")
        names = []
        with convert_os_errors(
            DataError, f"{self.root} cannot be read", "make the folder and its files readable"
        ):
            for place, folders, files in os.walk(self.root, onerror=_raise):
                folders[:] = [name for name in folders if not name.startswith(".")]
                below = Path(place).relative_to(self.root)
                names += [(below / name).as_posix() for name in files if not name.startswith(".")]
        return sorted(names)

    def file(self, name: str) -> tuple[str, str]:
        """Digest of a file's content, and its place with links followed.

        Raises DataError when it is missing, not a file, or outside of the folder: somebody
        else's table must not show other files of this machine.
        """
        if problem := fault_of(name):
            raise DataError(f"the name {quote(name)} of an image {problem}")
        place = self.root / name
        file = Path(self._resolved(place.parent), place.name)
        if place.name == ".." or file.is_symlink():
            file = Path(os.path.realpath(file))
        if not file.is_relative_to(self._resolved(self.root)):
            link = describe_link(place, self.root)
            remedy = "name a folder that holds all images and the targets of links"
            raise DataError(
                f"{quote(name)} lies outside of {self.root}; {link or 'put it there'}, or {remedy}"
            )
        try:
            return file_sha256(file), str(file)
        except OSError as error:
            names = [near.name for near in other_suffixes(place)]
            near = f" (there is {abridge(names)})" if names else ""
            message = f"image {place}: {error.strerror or error}{near}"
            raise DataError(f"{message}; put it there, or correct its name") from error


def label_of(name: str) -> str:
    """Folder of a file relative to the data set's folder; empty for a file directly in it."""
    folder = Path(name).parent.as_posix()
    return "" if folder == "." else folder


def _raise(error: OSError) -> None:
    raise error


def cells_by_role(table: Columns, path: Path, names: Mapping[Any, str]) -> list[dict[Any, str]]:
    """Cells of each row of a table, by role, for the columns that the table has.

    Raises DataError when one of these cells is empty.
    """
    column_of_role = {role: name for role, name in names.items() if name in table}
    for name in column_of_role.values():
        row = next((row for row, value in enumerate(table[name], 1) if not value), None)
        if row is not None:
            raise DataError(
                f"table {path}, row {row}: column {quote(name)} is empty; expected a value in "
                "every row, or no such column"
            )
    columns = zip(*(table[name] for name in column_of_role.values()), strict=True)
    return [dict(zip(column_of_role, values, strict=True)) for values in columns]
