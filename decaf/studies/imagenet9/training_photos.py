"""Photos of the Backgrounds Challenge: those to train on, and those that choose the epoch."""

from pathlib import Path
from typing import Literal, NamedTuple

from decaf.errors import DataError
from decaf.foundation.digests import hashed_share
from decaf.models.training.photos import Photo
from decaf.studies.imagenet9.adapters import SPLIT_SEED, split_of
from decaf.studies.imagenet9.challenge_files import absent_classes, variant_files

Regime = Literal["original", "mixed_rand", "mixed_next", "only_fg"]
Split = Literal["score", "deep", "outcome"]


class TrainingPhotos(NamedTuple):
    """Photos of one version; calling it checks that they exist.

    Foregrounds to train on and to validate with are disjoint, and the same for all regimes.
    """

    root: Path
    regime: Regime
    part: str
    """``train`` or ``val``."""
    splits: tuple[Split, ...]
    """Hashed splits whose foregrounds are used."""
    validation_share: float

    def find(self) -> tuple[list[Photo], list[Photo]]:
        """Photos to train on, and to validate with.

        Raises DataError when a folder is missing or holds files that are not in the archive, or one
        of both lists would be empty.
        """
        parts = self._sources(variant_files(self.root, self.regime, self.part).by_source)
        training, validation = (
            [Photo(path, int(source[:2])) for source, path in part.items()] for part in parts
        )
        return training, validation

    def __call__(self) -> tuple[str, ...]:
        """Look for the photos; remarks on files and classes that are not there to train on."""
        files = variant_files(self.root, self.regime, self.part)
        training, _ = self._sources(files.by_source)
        return files.remarks + absent_classes(training, f"training photo of {files.place}")

    def _sources(self, files: dict[str, Path]) -> tuple[dict[str, Path], dict[str, Path]]:
        parts: tuple[dict[str, Path], dict[str, Path]] = ({}, {})
        for source, path in files.items():
            if split_of(source) in self.splits:
                share = hashed_share(f"{SPLIT_SEED}|validation|{source}")
                parts[share < self.validation_share][source] = path
        training, validation = parts
        if not training or not validation:
            raise DataError(
                f"{self.root}: {self.regime}/{self.part} has {len(training)} photos to train on "
                f"and {len(validation)} to validate with in the splits {', '.join(self.splits)}; "
                "expected some of both: use more splits, or another 'validation_share:'"
            )
        return parts
