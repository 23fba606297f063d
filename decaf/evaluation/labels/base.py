"""Base class of sources of labels: labels of cases, measurements and analyses for them."""

from abc import ABC
from collections.abc import Iterable, Mapping
from typing import Any, ClassVar, Literal, NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray

from decaf.data.adapters.base import Adapter
from decaf.data.pairs import InputSet, PairBlock, PairSet
from decaf.evaluation.baselines.base import Baseline
from decaf.foundation.arrays import Tensor
from decaf.foundation.place import Place
from decaf.foundation.settings import Settings
from decaf.models.card import ModelCard

CaseKind = Literal["source", "model"]
"""Case of a label: a model on a source of pairs, or a whole model."""


class StudyParts(NamedTuple):
    """Parts of a study that a source of labels uses."""

    data: Adapter
    models: tuple[ModelCard, ...]
    attributions: Iterable[str]
    """Names of the attribution methods."""
    baselines: Mapping[str, Baseline]


class Subject(Protocol):
    """One model on one block of pairs."""

    block: PairBlock
    epsilon: float

    def clean_scores(self) -> dict[str, NDArray[np.float64]]:
        """Score values of the clean inputs that are finite, by image id."""

    def images(self, rows: NDArray[np.int64]) -> Tensor:
        """(n, 3, height, width) factual images of pairs, on the model's device."""

    def foregrounds(self, rows: NDArray[np.int64]) -> Tensor:
        """Images of :meth:`LabelSource.foregrounds` for the sources of the pairs, as above."""

    def values(self, images: Tensor) -> NDArray[np.float64]:
        """(n, columns) score values of images."""


class Variants(NamedTuple):
    """Score values of changed images."""

    image_ids: NDArray[np.str_]
    """(n_images,) factual images that were changed."""
    names: tuple[str, ...]
    """(n_variants,) names of the changes."""
    values: NDArray[np.float64]
    """(n_images, n_variants, columns)"""


class LabelSource(Settings, ABC):
    """Labels of the cases of a study (``labels:``); the views compare E, C and F with them."""

    place: ClassVar[Place] = Place("labels", room="decaf.evaluation.labels", tag="kind")
    case_kind: ClassVar[CaseKind]
    cases: ClassVar[str]
    """View of the cases; for models with ``mechanism_label``, else with a column for each label."""
    variants: ClassVar[tuple[str, ...]] = ()
    """Names of the changed images to score for the labels; empty if none are scored."""

    def foregrounds(self, data: Adapter, pairs: PairSet) -> InputSet | None:
        """Further images that measuring needs, one for each source in the order of their names.

        Raises DataError when the data set does not have them, or lacks the pairs that the labels
        need.
        """
        return None

    def identity(self) -> dict[str, Any]:
        """Settings that :meth:`measure` depends on, apart from model, block, score and epsilon."""
        return {}

    def measure(self, subject: Subject) -> Variants:
        """Score the changed images of one model on one block."""
        raise NotImplementedError(f"{type(self).__name__} has no measurement; define measure()")

    def analyses(self, parts: StudyParts) -> dict[str, dict[str, Any]]:
        """Parameters of the analyses over all models at the end, by the table they fill.

        Raises DataError when an attribution method or a baseline has a name that is taken.
        """
        return {}

    def rows(self, table: str, parts: StudyParts, pairs: PairSet) -> Mapping[str, NDArray[Any]]:
        """Columns of a table of :meth:`analyses` that depend only on the data."""
        raise NotImplementedError(f"{type(self).__name__} has no rows for {table}")
