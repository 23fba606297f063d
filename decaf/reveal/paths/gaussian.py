"""Gaussian reveal: the input emerges from noise with the second moments of the data."""

from collections.abc import Iterable
from dataclasses import dataclass, fields, replace
from pathlib import Path
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from decaf.data.pair_block import PairBlock
from decaf.errors import DataError, ResponseError
from decaf.foundation.arrays import Array, like
from decaf.foundation.digests import short
from decaf.reveal.gaussian.draws import PIXEL, PRINCIPAL, chain_weights, draw_keys, mixed_normals
from decaf.reveal.gaussian.geometry import Geometry, GeometryName, colour_normals
from decaf.reveal.gaussian.information import information_scale
from decaf.reveal.gaussian.reference import GaussianReference, fit_reference
from decaf.reveal.gaussian.storage import load_reference, save_reference
from decaf.reveal.path import (
    SELECTION_FIELDS,
    Regions,
    Revealed,
    RevealPath,
    Words,
    path_field,
    shown_by_branch,
)
from decaf.reveal.paths.blend import Fade, column_of, stage_words
from decaf.reveal.refinement import Refinement

NOISE_SEEDS = (20260884, 20260885, 20260886)
"""Noise seeds of the base benchmark (paper, appendix D: three)."""


def emerge(start: Array, clean: Array, mean: Array, alpha: Array) -> Array:
    """``x_alpha = mu + sqrt(alpha) (x - mu) + sqrt(1 - alpha) (x0 - mu)`` (paper, appendix D).

    As a sum of three weights, which is exactly the start at 0 and the clean input at 1. Random
    state ``x0 = mu + eta`` and input ``x`` are (n, …), the mean ``mu`` and alpha, in [0, 1],
    broadcastable to them.

    >>> x0, x, mu = np.array([5.0]), np.array([11.0]), np.array([1.0])
    >>> emerge(x0, x, mu, np.array([0.36])).tolist()  # 1 + 0.6 · 10 + 0.8 · 4
    [10.2]
    """
    signal, noise = alpha**0.5, (1 - alpha) ** 0.5
    return signal * clean + noise * start + (1 - signal - noise) * mean


@dataclass(frozen=True)
class GaussianStart:
    """``x0 = mu + eta``, a function only of the draw.

    ``stages`` are the alphas of a reverse Markov chain, whose draws name a key and a stage; they
    are absent where one ``eta`` per key holds for the whole path.
    """

    reference: Path | GaussianReference
    geometry: Geometry
    stages: tuple[float, ...] | None = None
    of_pair = False

    def states(self, plus: Array, minus: Array, draw: NDArray[np.uint64]) -> Array:
        """(n, …) inputs for their shape, type and device; draw (n, words) → (n, …).

        Raises DataError when the inputs have another shape than those of the reference.
        """
        reference = _moments_for(plus, self.reference)
        colouring = self.geometry.colouring(reference)
        principal = pixel = None
        if colouring.principal is not None:
            principal = self._normals(draw, PRINCIPAL, reference.rank)
        if colouring.pixel is not None:
            pixel = self._normals(draw, PIXEL, reference.size)
        eta = colour_normals(reference, colouring, principal, pixel, plus)
        return (like(plus, reference.mean) + eta).reshape(plus.shape)

    def _normals(self, draw: NDArray[np.uint64], stream: int, width: int) -> NDArray[np.float64]:
        keys = draw[:, 0]
        if self.stages is None:
            return mixed_normals(keys, np.zeros(keys.size, int), np.ones((1, 1)), stream, width)
        mixing = chain_weights(np.array(self.stages))
        return mixed_normals(keys, draw[:, 1].astype(np.int64), mixing, stream, width)


@dataclass(frozen=True)
class GaussianFade(Fade):
    """The rule of :func:`emerge`; the content is alpha, as the bits of a float64."""

    reference: Path | GaussianReference

    def states(self, start: Array, clean: Array, content: Words, regions: Regions) -> Array:
        """Mix; start and clean (n, …), content (n, 1) → (n, …).

        Raises DataError when the inputs have another shape than those of the reference.
        """
        reference = _moments_for(clean, self.reference)
        mean = like(clean, reference.mean.reshape(1, *reference.shape))
        return emerge(start, clean, mean, like(clean, column_of(content[:, 0], clean.ndim)))


@dataclass(frozen=True, kw_only=True)
class GaussianReveal(RevealPath):
    """Both branches emerge from one random state, covariance-matched or of another geometry.

    Equation cmmr-path of the paper (appendix D) and its trace-matched alternatives, once for every
    noise seed. A reverse Markov chain adds fresh noise from stage to stage; each stage alone is
    distributed as with a fixed draw.

    Examples
    --------
    >>> GaussianReveal(geometry="power", beta=0.5).repetitions
    3
    """

    kind: Literal["gaussian"] = "gaussian"
    reference: Path | GaussianReference | None = path_field(
        None, "safetensors file of the fitted moments; fitted to the study's inputs when absent"
    )
    geometry: GeometryName = path_field(
        "cmmr", "covariance of the noise: that of the data, or one with its trace"
    )
    beta: float | None = path_field(None, "power of the eigenvalues, for geometry `power`")
    share: float | None = path_field(
        None, "lambda from 0 (cmmr) to 1 (pixel), for geometry `linear`"
    )
    seeds: tuple[int, ...] = path_field(NOISE_SEEDS, "noise seeds; each one is a repetition")
    chain: Literal["fixed", "reverse_markov"] = path_field(
        "fixed",
        "one draw along the whole path, or fresh noise at every step (needs the path's "
        "own `stages`)",
    )

    def __post_init__(self) -> None:
        super().__post_init__()
        Geometry(self.geometry, self.beta, self.share)
        if not self.seeds or len(set(self.seeds)) < len(self.seeds) or min(self.seeds) < 0:
            raise ResponseError(f"noise seeds are {self.seeds}; expected distinct numbers from 0")
        is_open = self.stages is None or isinstance(self.stages, Refinement)
        if self.chain == "reverse_markov" and is_open:
            raise ResponseError(
                "a reverse Markov chain walks the path's own stages, and all its states depend on "
                "them; give this path 'stages', a number or a list"
            )

    @property
    def repetitions(self) -> int:
        """One for every noise seed."""
        return len(self.seeds)

    @property
    def start(self) -> GaussianStart:
        """Start without information: the reference itself, one draw of it.

        Raises DataError when the path has no reference.
        """
        stages = None
        if self.chain == "reverse_markov":
            stages = tuple(self.grid(np.empty(0)).tolist())
        geometry = Geometry(self.geometry, self.beta, self.share)
        return GaussianStart(self._required_reference, geometry, stages)

    @property
    def rule(self) -> GaussianFade:
        """Maker of states; the same for all geometries of a reference."""
        return GaussianFade(self._required_reference)

    def reveal(self, block: PairBlock, inputs: NDArray[Any], grid: NDArray[np.float64]) -> Revealed:
        """Alpha itself, the same for all pairs and branches, and the draw of the pair's source.

        Raises ResponseError when a reverse Markov chain is asked for other stages than its own.
        """
        if self.chain == "reverse_markov" and not np.array_equal(grid, self.grid(grid)):
            raise ResponseError(
                f"stages {grid.tolist()} are not those of the reverse Markov chain, "
                f"{self.grid(grid).tolist()}"
            )
        positions = shown_by_branch(block, self.repetitions, grid.size)
        content = np.broadcast_to(stage_words(grid)[:, None], positions.shape)[..., None]
        keys = draw_keys(self.seeds, block.source_ids)[block.source]
        draw = np.broadcast_to(keys[:, :, None], positions.shape[:3])
        if self.chain == "reverse_markov":
            stage = np.broadcast_to(np.arange(grid.size, dtype=np.uint64), draw.shape)
            return Revealed(positions, content, np.stack([draw, stage], axis=3))
        return Revealed(positions, content, draw[..., None])

    def identity(self, inputs_digest: str) -> dict[str, Any]:
        """Parts that determine the states, with the grid: moments count, not their file."""
        names = [field.name for field in fields(self) if field.name not in SELECTION_FIELDS]
        named = {name: getattr(self, name) for name in names}
        if self.reference is None:
            return {**named, "reference": f"fitted to {inputs_digest}"}
        return {**named, "reference": moments_of(self.reference).digest}

    @property
    def has_drawn_start(self) -> bool:
        """Always: a draw of the reference."""
        return True

    def fitted_file(self, folder: Path, inputs_digest: str) -> Path | None:
        """The reference of a study's clean inputs, for a path that names none."""
        if self.reference is not None:
            return None
        return folder / f"gaussian-{short(inputs_digest)}.safetensors"

    def fit(self, inputs: Iterable[Array], file: Path) -> None:
        """Write the reference file."""
        save_reference(fit_reference(inputs), file)

    def with_fitted_file(self, folder: Path, inputs_digest: str) -> "GaussianReveal":
        """Path with the study's reference if it has none, and with an absolute file otherwise."""
        if isinstance(self.reference, Path) and not self.reference.is_absolute():
            return replace(self, reference=self.reference.absolute())
        file = self.fitted_file(folder, inputs_digest)
        return self if file is None else replace(self, reference=file)

    def measurements(self, grid: NDArray[np.float64]) -> dict[str, Any]:
        """``information_weights``: one per stage, of the integral over common information.

        The scale ends at the last stage below 1, so that two stages have none.
        """
        if grid.size < 3:
            return {}
        geometry = Geometry(self.geometry, self.beta, self.share)
        scale = information_scale(moments_of(self._required_reference), geometry, float(grid[-2]))
        return {"information_weights": scale.weights(grid).tolist()}

    @property
    def _required_reference(self) -> Path | GaussianReference:
        if self.reference is None:
            raise DataError(
                "this Gaussian path has no reference; fit one with "
                "decaf.reveal.gaussian.reference.fit_reference and give it as 'reference'"
            )
        return self.reference


def moments_of(reference: Path | GaussianReference) -> GaussianReference:
    """Reference in memory; a file is read once per process.

    Raises DataError when the file cannot be used.
    """
    return load_reference(reference) if isinstance(reference, Path) else reference


def _moments_for(inputs: Array, reference: Path | GaussianReference) -> GaussianReference:
    """Reference in memory; raises DataError for (n, …) inputs of another shape."""
    moments = moments_of(reference)
    if tuple(inputs.shape[1:]) != moments.shape:
        raise DataError(
            f"inputs have shape {tuple(inputs.shape[1:])}, the Gaussian reference was fitted to "
            f"{moments.shape}; fit one to these inputs"
        )
    return moments
