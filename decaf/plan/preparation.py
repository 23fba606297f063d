"""What has to be made before anything of a study is scored: fitted paths and trained models."""

from pathlib import Path

from decaf.data.pairs import PairSet
from decaf.foundation.digests import json_sha256, short
from decaf.foundation.strangers import code_of
from decaf.models.card import ModelCard
from decaf.plan.study import Study
from decaf.reveal.path import RevealPath


def fitted_paths(study: Study, pairs: PairSet) -> dict[str, RevealPath]:
    """The paths with what they take from the study's clean inputs, kept in the workspace."""
    digest = pairs.input_set.digest
    return {name: path.fitted(_folder(study), digest) for name, path in study.paths.items()}


def start_files(study: Study, pairs: PairSet) -> dict[str, Path]:
    """Where the random starts of each path lie, if it has any; a function of what they are."""
    inputs = pairs.input_set.digest

    def file(path: RevealPath) -> Path:
        reveal = path.identity(inputs), code_of(path), path.grid(study.grid).tolist()
        digest = json_sha256([*reveal, pairs.digest, path.pair_types])
        return _folder(study) / f"starts-{short(digest)}.npy"

    return {name: file(path) for name, path in study.paths.items()}


def untrained(study: Study) -> list[ModelCard]:
    """Models whose recipe has not made its file yet."""
    return [card for card in study.models if card.is_untrained(study.workspace)]


def _folder(study: Study) -> Path:
    return (study.workspace / "fitted").absolute()
