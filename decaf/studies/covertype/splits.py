"""Cover types 1 and 2 in equal numbers, split and standardised: the same rows for all models."""

import hashlib
from functools import lru_cache
from pathlib import Path
from typing import Any, Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray
from pydantic import Field, ValidationInfo, field_validator

from decaf.errors import DataError
from decaf.foundation.settings import PlacedPath, Settings
from decaf.studies.covertype.table import QUANTITIES, Table, find_table, read_table, state_of

SEED = 7601
OUTSIDE_TRAINING = 0.4
TEST_OF_REST = 0.5
FEWEST_PER_CLASS = 5
"""With fewer rows, a stratified split leaves a part without one of the classes."""
PAPER_PER_CLASS = 120_000

Split = Literal["train", "validation", "test"]


class Part(NamedTuple):
    """One split, in the order in which scikit-learn's split gives it."""

    row: NDArray[np.int64]
    """(n,) positions in the file, from 0."""
    features: NDArray[np.float32]
    """(n, 54) natural features, the ten quantities standardised."""
    label: NDArray[np.int64]
    """(n,) 0 for cover type 1, 1 for type 2."""

    def lowest(self, per_class: int | None) -> NDArray[np.int64]:
        """Positions in this part of those ``per_class`` rows of each class that the file has first.

        All positions if ``per_class`` is None.

        Raises DataError when the part has fewer rows of a class.
        """
        if per_class is None:
            return np.arange(self.row.size)
        counts = np.bincount(self.label, minlength=2)
        if per_class > counts.min():
            raise DataError(
                f"{per_class} rows of each class are requested; the split has {counts[0]} of cover "
                f"type 1 and {counts[1]} of type 2: request at most {counts.min()}"
            )
        lowest_rows = [
            places[np.argsort(self.row[places])[:per_class]]
            for places in (np.flatnonzero(self.label == label) for label in (0, 1))
        ]
        return np.sort(np.concatenate(lowest_rows))

    @property
    def digest(self) -> str:
        """Hex sha256 of positions, labels and features: a fingerprint of the whole procedure."""
        sha256 = hashlib.sha256()
        for values in (self.row.astype("<i8"), self.label.astype("<i8")):
            sha256.update(values.tobytes())
        sha256.update(self.features.astype("<f4").tobytes())
        return sha256.hexdigest()


class CovertypeTable(Settings):
    """The table and how many rows are drawn from it."""

    file: PlacedPath = Field(
        description="official `covtype.data(.gz)`, a CSV file with its columns or scikit-learn's "
        "cache, or a folder of one of them"
    )
    drawn_per_class: int = Field(
        PAPER_PER_CLASS,
        ge=FEWEST_PER_CLASS,
        le=1_000_000,
        description="rows drawn of cover type 1 and of type 2, before the split 60 : 20 : 20; "
        "`null`: all rows of the rarer type, at most 120,000",
    )

    @field_validator("drawn_per_class", mode="before")
    @classmethod
    def _as_many_as_there_are(cls, given: Any, info: ValidationInfo) -> Any:
        # A concrete number from here on: results of the table depend on it.
        if given is not None or "file" not in info.data:
            return given
        path = find_table(info.data["file"])
        return min(PAPER_PER_CLASS, _rarer(path, read_table(path)))

    def part(self, split: Split) -> Part:
        """One split of the drawn rows.

        ``default_rng(7601)`` draws rows of type 1, then of type 2, and permutes them; stratified
        splits of 40 % and of half of that follow, with the same seed. The ten quantities are
        standardised by mean and population standard deviation of the training split. Raises
        DataError if the file is not a Covertype table, or has fewer rows of a type.
        """
        path = find_table(self.file)
        return _parts(path, state_of(path), self.drawn_per_class)[split]


@lru_cache(maxsize=1)
def _parts(path: Path, state: tuple[int, ...], per_class: int) -> dict[Split, Part]:
    table = read_table(path)
    rarer = _rarer(path, table)
    if rarer < per_class:
        raise DataError(
            f"{path}: {per_class} rows of each class are requested; the table has {rarer} of the "
            f"rarer of cover types 1 and 2: set 'drawn_per_class: {rarer}', or null for all rows "
            "of this type, or get the full table"
        )
    drawn = balanced_rows(table.cover, per_class)
    label = (table.cover[drawn] == 2).astype(np.int64)
    places = split_places(label)
    scale = standardisation(table.features[drawn[places["train"]], : len(QUANTITIES)])
    return {
        split: Part(drawn[chosen], _standardise(table, drawn[chosen], *scale), label[chosen])
        for split, chosen in places.items()
    }


def _rarer(path: Path, table: Table) -> int:
    """Number of rows of the rarer of cover types 1 and 2."""
    counts = [int(np.count_nonzero(table.cover == kind)) for kind in (1, 2)]
    if min(counts) < FEWEST_PER_CLASS:
        raise DataError(
            f"{path} has {counts[0]} rows of cover type 1 and {counts[1]} of type 2; a split "
            f"needs at least {FEWEST_PER_CLASS} of each: get the full table"
        )
    return min(counts)


def balanced_rows(cover: NDArray[np.integer], per_class: int) -> NDArray[np.int64]:
    """(2 per_class,) rows of cover types 1 and 2, in random order, equally many of each."""
    rng = np.random.default_rng(SEED)
    drawn = [rng.choice(np.flatnonzero(cover == kind), per_class, replace=False) for kind in (1, 2)]
    joined = np.concatenate(drawn)
    return joined[rng.permutation(joined.size)]


def split_places(label: NDArray[np.int64]) -> dict[Split, NDArray[np.int64]]:
    """Places of each split among rows of two classes: 60 % train, 20 % validation, 20 % test."""
    from sklearn.model_selection import train_test_split

    train, remaining = train_test_split(
        np.arange(label.size), test_size=OUTSIDE_TRAINING, random_state=SEED, stratify=label
    )
    validation, test = train_test_split(
        remaining, test_size=TEST_OF_REST, random_state=SEED, stratify=label[remaining]
    )
    return {"train": train, "validation": validation, "test": test}


def standardisation(
    quantities: NDArray[np.number],
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Mean and population standard deviation (``ddof`` 0) of each column; 1 where it is 0."""
    spread = quantities.std(axis=0, dtype=np.float64)
    return quantities.mean(axis=0, dtype=np.float64), np.where(spread == 0, 1, spread)


def _standardise(
    table: Table, rows: NDArray[np.int64], mean: NDArray[np.float64], spread: NDArray[np.float64]
) -> NDArray[np.float32]:
    features = table.features[rows].astype(np.float64)
    features[:, : mean.size] = (features[:, : mean.size] - mean) / spread
    return features.astype(np.float32)
