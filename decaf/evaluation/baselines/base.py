"""Baselines of a table's audit: other methods that measure reliance on a factor.

A method is a settings class derived from :class:`Baseline`; its budget of rows is its fields. It
gets one classifier and the audited rows, each with its own context and factor, and returns one
number per component for the whole model (paper, section 5 and appendix I). A new module in this
package is a new method. Libraries are imported where they are used: planning imports none.
"""

import importlib
import logging
import warnings
from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass
from fnmatch import fnmatchcase
from types import ModuleType
from typing import TYPE_CHECKING, Any, ClassVar, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray
from pydantic import Field

from decaf.data.factual import FactualRows
from decaf.foundation.extras import optional
from decaf.foundation.place import Place
from decaf.foundation.settings import LARGEST_SEED, Settings
from decaf.models.card import ModelCard

HALF = 0.5
"""Smallest probability for which a row is predicted as 1."""


class Undefined(Exception):
    """A method has no number for this model; the message is the reason that is stored."""


class Component(NamedTuple):
    """One number of a method."""

    score: float | None
    """None if it is undefined."""
    explained_rows: int
    """Number of rows that it explains."""
    reason: str | None = None
    """Reason for a missing score."""


class CountedProbability:
    """P(y = 1) of rows, with a count of the rows that were predicted.

    ``answer`` maps (n, p) float32 to (n,) probabilities, of at most ``batch_size`` rows at once.
    """

    def __init__(self, answer: Callable[[NDArray[np.float32]], ArrayLike], batch_size: int) -> None:
        self.rows = 0
        self.batch_size = batch_size
        self._answer = answer

    def __call__(self, rows: ArrayLike) -> NDArray[np.float64]:
        """(n, p) of any float type → (n,) float64; rows are predicted as float32.

        Raises Undefined when a probability is not finite: a comparison would treat it as a
        small one.
        """
        inputs = np.asarray(rows, np.float32)
        self.rows += len(inputs)
        size = self.batch_size
        parts = [self._answer(inputs[n : n + size]) for n in range(0, len(inputs), size)]
        probabilities = np.concatenate([np.asarray(part, np.float64) for part in parts])
        if wrong := np.count_nonzero(~np.isfinite(probabilities)):
            raise Undefined(f"P(y = 1) is not finite in {wrong} of {len(probabilities)} rows")
        return probabilities

    def accuracy(self, rows: ArrayLike, label: NDArray[np.int64]) -> float:
        """Share of rows whose prediction, P(y = 1) >= 0.5, is their label."""
        return float(np.mean((self(rows) >= HALF) == label))


@dataclass(frozen=True)
class Subject:
    """A classifier, and the rows on which it is explained."""

    probability: CountedProbability
    rows: FactualRows
    estimator: Any
    """The estimator itself, for methods that look inside."""
    refit_without_factor: Callable[[], Any] | None = None
    """Fits the model again on its training rows without the factor; None without a recipe."""


class Baseline(Settings, ABC):
    """Base class of all baselines."""

    place: ClassVar[Place] = Place("baseline", room="decaf.evaluation.baselines", tag="kind")

    if TYPE_CHECKING:
        kind: str  # every member annotates it with its own name

    components: ClassVar[tuple[str, ...]] = ("score",)
    """Names of the numbers that it returns."""
    libraries: ClassVar[tuple[str, ...]] = ()
    """Modules that it imports on use; planning checks that they are installed."""

    models: tuple[str, ...] | None = Field(
        None,
        description="names of the explained models, with `*` as wildcard; all when absent",
    )
    families: tuple[str, ...] | None = Field(
        None, description="families of the explained models; all when absent"
    )
    seed: int = Field(7601, ge=0, le=LARGEST_SEED, description="seed of all draws")

    def applies_to(self, card: ModelCard) -> bool:
        """True if the baseline explains the model."""
        is_named = self.models is None or any(
            fnmatchcase(card.id, pattern) for pattern in self.models
        )
        return is_named and (self.families is None or card.family in self.families)

    @property
    def identity(self) -> dict[str, Any]:
        """Parts that its numbers depend on: all fields except the choice of models."""
        return self.model_dump(mode="json", exclude={"models", "families"})

    def prepare(self) -> None:
        """Import its libraries, so that this is not counted as its cost."""
        for name in self.libraries:
            quiet_import(name)

    def measure(self, subject: Subject) -> dict[str, Component]:
        """Explain a model: one :class:`Component` for each name of ``components``.

        If the method is undefined, or its number is not finite, the score is None, with a reason.
        Raises ModelError when the model cannot answer.
        """
        try:
            components = self._measure(subject)
        except (Undefined, np.linalg.LinAlgError) as error:
            return dict.fromkeys(self.components, Component(None, 0, str(error)))
        return {name: _finite(components[name]) for name in self.components}

    @abstractmethod
    def _measure(self, subject: Subject) -> dict[str, Component]:
        """Numbers by component."""


def _finite(found: Component) -> Component:
    if found.score is None or np.isfinite(found.score):
        return found
    return Component(None, found.explained_rows, "the score is not finite")


def mean_magnitude(values: NDArray[np.floating]) -> dict[str, Component]:
    """Mean of the absolute values of (n,) attributions, one for each explained row."""
    return {"score": Component(float(np.mean(np.abs(values))), len(values))}


def quiet_import(name: str) -> ModuleType:
    """Import a module of a library without its warnings, which only its authors can fix."""
    with warnings.catch_warnings(), optional():
        warnings.simplefilter("ignore")
        module = importlib.import_module(name)
    logging.getLogger("shap").setLevel(logging.ERROR)  # it advises on budgets, which are settings
    return module
