"""What has to be made before anything of a study is scored: fitted paths and trained models."""

from decaf.data.pairs import PairSet
from decaf.models.card import ModelCard
from decaf.plan.study import Study
from decaf.reveal.path import RevealPath


def fitted_paths(study: Study, pairs: PairSet) -> dict[str, RevealPath]:
    """The paths with what they take from the study's clean inputs, kept in the workspace."""
    folder = (study.workspace / "fitted").absolute()
    digest = pairs.input_set.digest
    return {name: path.fitted(folder, digest) for name, path in study.paths.items()}


def untrained(study: Study) -> list[ModelCard]:
    """Models whose recipe has not made its file yet."""
    return [card for card in study.models if card.is_untrained(study.workspace)]
