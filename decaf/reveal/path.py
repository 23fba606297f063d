"""Base class of reveal paths: the contract between the paths and the state planner."""

from abc import ABC, abstractmethod
from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass, field, fields
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar, NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray

from decaf.data.pair_block import PairBlock
from decaf.errors import ResponseError
from decaf.foundation.arrays import Array
from decaf.foundation.place import Place
from decaf.reveal.refinement import MOST_STAGES, Refinement, Stages
from decaf.reveal.setting_types import check_type
from decaf.routing.quadrature import check_grid

if TYPE_CHECKING:
    from typing_extensions import TypeIs

Words = NDArray[np.uint64]
"""Content of a state, or the name of a draw: a few words each."""

Regions = NDArray[np.unsignedinteger] | None
"""(n, …) features of every pixel or column, bit k - 1 for feature k; images without channels.

None where the data have no features of their own. Rules are given a tensor of the same bits where
inputs are tensors (:func:`decaf.foundation.arrays.bits_like`).
"""


class Revealed(NamedTuple):
    """Contents of the states of a path, by pair, repetition, stage and branch (factual first)."""

    input_position: NDArray[np.int64]
    """(n_pairs, n_repetitions, n_stages, 2) position of the clean input that shows through."""
    content: NDArray[np.uint64]
    """(n_pairs, n_repetitions, n_stages, 2, words) how much of the clean input is revealed."""
    draw: NDArray[np.uint64]
    """(n_pairs, n_repetitions, n_stages, words) name of the random draw of the start.

    The branches share it. Starts without randomness have no words.
    """


class Start(Protocol):
    """Maker of the common uninformative state. Equal starts compare equal."""

    of_pair: bool
    """True if the start depends on clean inputs (``start_inputs`` of the path)."""

    def states(self, plus: Array, minus: Array, draw: NDArray[np.uint64]) -> Array:
        """One start per row; symmetrical in ``plus`` and ``minus``."""


class Rule(Protocol):
    """Maker of partly revealed states. Equal rules compare equal."""

    def empty(self, words: int) -> NDArray[np.uint64]:
        """Content that is the start itself."""

    def full(self, words: int) -> NDArray[np.uint64]:
        """Content that is the clean input itself."""

    def states(self, start: Array, clean: Array, content: Words, regions: Regions) -> Array:
        """One state per row."""


class WritingRule(Rule, Protocol):
    """A rule that can also write its states into a given array, without copies."""

    def write(
        self,
        built: NDArray[Any],
        start: NDArray[Any],
        clean: NDArray[Any],
        content: Words,
        regions: Regions,
    ) -> None:
        """Write what ``states`` returns for these arrays of the host into ``built``, (n, …)."""


def writes_in_place(rule: Rule) -> "TypeIs[WritingRule]":
    """True if a rule has its own ``write``: an inherited one may not fit its ``states``."""
    owners = (base for base in type(rule).__mro__ if "states" in vars(base))
    return "write" in vars(next(owners, object))


SELECTION_FIELDS = ("stages", "pair_types")
"""Fields that select states and pairs; they do not change any state."""


def path_field(default: Any, description: str) -> Any:
    """Field of a path that a configuration can set; the reference page shows the description."""
    return field(default=default, kw_only=True, metadata={"description": description})


def stage_grid(stages: int | Sequence[float]) -> NDArray[np.float64]:
    """(n_stages,) float64 from a number of evenly spaced stages, or from the stages themselves.

    Raises ResponseError when the stages do not strictly increase from 0 to 1.
    """
    if isinstance(stages, int):
        if stages > MOST_STAGES:
            raise ResponseError(f"{stages} stages; expected {MOST_STAGES} at most")
        return check_grid(np.linspace(0, 1, stages) if stages > 1 else [0.0])
    return check_grid(stages)


@dataclass(frozen=True)
class RevealPath(ABC):
    """Base of the paths: frozen values, so that equal paths compare equal and can be digested."""

    place: ClassVar[Place] = Place("path", room="decaf.reveal.paths", tag="kind")

    removes_features: ClassVar[bool] = False
    """True if a pair is one input with and without a feature; False if it is two inputs."""

    stages: Stages | None = path_field(
        None, "this path's own stages, in the form of the study's `stages:`"
    )
    pair_types: tuple[str, ...] | None = path_field(
        None, "types of the pairs that this path scores; all when absent"
    )

    def __post_init__(self) -> None:
        given_kind, own_kind = getattr(self, "kind", None), getattr(type(self), "kind", None)
        if given_kind != own_kind:  # a setting that was given without its name
            raise ResponseError(
                f"the kind of a {type(self).__name__} is {own_kind!r}, not {given_kind!r}; give "
                "settings by name, as in sigma=5"
            )
        for setting in fields(self):
            if setting.name != "stages":
                check_type(type(self).__name__, setting, getattr(self, setting.name))
        if self.stages is not None and not isinstance(self.stages, Refinement):
            stage_grid(self.stages)
        if self.pair_types is not None and not self.pair_types:
            raise ResponseError(
                "pair_types is empty; name the types of pairs that the path scores, or leave it out"
            )

    @property
    def repetitions(self) -> int:
        """Random repetitions of every pair."""
        return 1

    @property
    def has_common_start(self) -> bool:
        """True if both branches of a pair start from one state, so that r(0) = 0 exactly."""
        return True

    @property
    @abstractmethod
    def start(self) -> Start:
        """Start without information."""

    @property
    @abstractmethod
    def rule(self) -> Rule:
        """Maker of states from the start and a clean input."""

    @abstractmethod
    def reveal(self, block: PairBlock, inputs: NDArray[Any], grid: NDArray[np.float64]) -> Revealed:
        """Content of every state.

        Parameters
        ----------
        block
            Pairs, with ``plus`` and ``minus`` indexing ``inputs``.
        inputs
            (n_inputs, …) clean inputs: (channels, height, width), (features,) or any shape each.
        grid
            (n_stages,) from 0 to 1.
        """

    def check(self, shape: tuple[int, ...]) -> None:  # noqa: B027 - most take any
        """Raise BadInput if the path cannot reveal inputs (n, …) of this shape."""

    def start_inputs(self, block: PairBlock) -> NDArray[np.int64]:
        """(n_pairs, 2) inputs that the start of a pair is made from, in either order."""
        return np.stack([block.plus, block.minus], axis=1)

    def mixing(self, grid: NDArray[np.float64]) -> NDArray[np.float64] | None:
        """(n_stages, n_anchors) weights of the scored states in each stage's score.

        None for paths whose stages are scored themselves.
        """
        return None

    def grid(self, default: NDArray[np.float64]) -> NDArray[np.float64]:
        """(n_stages,) stages of this path, else of the study; refinement starts from them."""
        stages = self.stages.grid if isinstance(self.stages, Refinement) else self.stages
        return default if stages is None else stage_grid(stages)

    @property
    def exact_stages(self) -> int | None:
        """Number of evenly spaced stages that shows every state; None if states are continuous."""
        return None

    @property
    def has_drawn_start(self) -> bool:
        """True if starts are random and independent of inputs: a study draws them once."""
        return False

    def fitted_file(self, folder: Path, inputs_digest: str) -> Path | None:
        """File that a study fits to all clean inputs for the path; None if nothing is fitted."""
        return None

    def fit(self, inputs: Iterable[Array], file: Path) -> None:  # noqa: B027 - most fit nothing
        """Write the file of :meth:`fitted_file`, from batches (n, …) of all clean inputs."""

    def with_fitted_file(self, folder: Path, inputs_digest: str) -> "RevealPath":
        """Copy of the path that reads its :meth:`fitted_file`; the path itself without a file."""
        return self

    def measurements(self, grid: NDArray[np.float64]) -> dict[str, Any]:
        """Measurements that a study stores with the fitted file: values of JSON, by name.

        They follow from the (n_stages,) stages, once :meth:`fit` is done; most paths have none.
        """
        return {}

    def identity(self, inputs_digest: str) -> dict[str, Any]:
        """Settings that determine the states, together with the grid and the inputs' digest."""
        return {name: value for name, value in asdict(self).items() if name not in SELECTION_FIELDS}

    @classmethod
    def __get_pydantic_core_schema__(cls, source: Any, handler: Any) -> Any:
        """Paths in a configuration follow the rules of :mod:`decaf.foundation.settings`."""
        from decaf.foundation.settings import checked_dataclass

        return checked_dataclass(cls, handler(source))


def shown_by_branch(block: PairBlock, repetitions: int, stages: int) -> NDArray[np.int64]:
    """(n_pairs, repetitions, stages, 2) clean input of each branch."""
    branches = np.stack([block.plus, block.minus], axis=1)[:, None, None, :]
    return np.broadcast_to(branches, (block.pair_count, repetitions, stages, 2))


def check_end(path: RevealPath, block: PairBlock, revealed: Revealed) -> None:
    """Raise ResponseError if the last stage of a pair does not show its inputs in full.

    Then the response at the last stage would not be the endpoint difference. The second branch of
    a pair of one input ends without a feature.
    """
    last = revealed.content[:, :, -1]
    is_clean = (last == path.rule.full(last.shape[-1])).all(axis=-1)
    is_clean[block.plus == block.minus, :, 1] = True
    if not is_clean.all():
        row, _, branch = np.argwhere(~is_clean)[0].tolist()
        raise ResponseError(
            f"the last stage of pair {block.pair_ids[row]!r} is not its clean "
            f"{('factual', 'counterfactual')[branch]} input; return rule.full(words) from reveal() "
            "at the last stage"
        )


def check_start(path: RevealPath, block: PairBlock, revealed: Revealed) -> None:
    """Raise ResponseError if the branches of a pair have different states at stage 0.

    Then r(0) would not be 0. Paths without a common start may differ there.
    """
    if not path.has_common_start:
        return
    first = revealed.content[:, :, 0]
    shows_input = (first != path.rule.empty(first.shape[-1])).any(axis=-1).any(axis=-1)
    differs = (first[..., 0, :] != first[..., 1, :]).any(axis=-1)
    positions = revealed.input_position[:, :, 0]
    differs |= shows_input & (positions[..., 0] != positions[..., 1])
    if differs.any():
        row = np.argwhere(differs)[0, 0]
        raise ResponseError(
            f"the branches of pair {block.pair_ids[row]!r} differ at stage 0; return "
            "rule.empty(words) from reveal() there, or set has_common_start = False"
        )


def no_draw(block: PairBlock, repetitions: int, stages: int) -> NDArray[np.uint64]:
    """(n_pairs, repetitions, stages, 0) names of draws of a path without randomness."""
    return np.empty((block.pair_count, repetitions, stages, 0), np.uint64)
