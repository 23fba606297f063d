"""The appended channels: a context, and a factor whose alignment with the label depends on it.

Every model is trained with its own channels. The draws depend only on module, seed and split, so
models of other mechanisms and strengths share their random numbers.
"""

from typing import Literal, NamedTuple, cast, get_args

import numpy as np
from numpy.typing import NDArray

from decaf.foundation.digests import hashed_word
from decaf.studies.covertype.splits import Split
from decaf.studies.covertype.table import FEATURE_COUNT

DirectionMechanism = Literal["direct", "gate", "invert"]
FragilityMechanism = Literal["robust", "mild", "fragile"]
Stream = Literal["context", "endpoint_factor", "alternate_factor"]

NAMESPACES = {
    "direction": "decaf_covertype_module_c_v1",
    "fragility": "decaf_covertype_module_f_v1",
}
UNALIGNED = 0.5
ALTERNATE_ALIGNMENT = {"robust": 0.50, "mild": 0.70, "fragile": 0.95}
"""Alignment of the factor under the alternate context, in the fragility module."""
ENDPOINT, ALTERNATE = 1, -1
"""The two contexts."""
CONTEXT, FACTOR = FEATURE_COUNT, FEATURE_COUNT + 1
"""Columns of the channels, behind those of the table."""


class Treatment(NamedTuple):
    """Mechanism that the training data attempt to induce (paper, table 12)."""

    mechanism: DirectionMechanism | FragilityMechanism
    strength: float | None
    """Probability p that an aligned factor agrees with the label; None in the fragility module."""

    @property
    def module(self) -> Literal["direction", "fragility"]:
        """Experiment, one of two, that it belongs to."""
        is_direction = self.mechanism in get_args(DirectionMechanism)
        return "direction" if is_direction else "fragility"


class Channels(NamedTuple):
    """Columns that are appended to the rows of a split, each (n,) of -1 and +1."""

    context: NDArray[np.int64]
    factor: NDArray[np.int64]


def uniform(
    treatment: Treatment, seed: int, split: Split, stream: Stream, count: int
) -> NDArray[np.float64]:
    """(count,) uniform numbers of a named stream.

    Its seed is the first eight bytes, little-endian, of the sha256 of
    ``namespace|seed|split|stream``.
    """
    name = f"{NAMESPACES[treatment.module]}|{seed}|{split}|{stream}"
    return np.random.default_rng(hashed_word(name, "little")).random(count)


def align_with_label(
    label: NDArray[np.int64], probability: float, u: NDArray[np.float64]
) -> NDArray[np.int64]:
    """(n,) -1 or +1: the sign of the label where ``u < probability``, otherwise the opposite."""
    sign = 2 * label - 1
    return np.where(u < probability, sign, -sign)


def draw_channels(
    treatment: Treatment, seed: int, split: Split, label: NDArray[np.int64]
) -> Channels:
    """Channels of all rows of a split, from their (n,) labels 0 and 1 in its order."""
    u_context, u_endpoint, u_alternate = (
        uniform(treatment, seed, split, stream, label.size) for stream in get_args(Stream)
    )
    context = np.where(u_context < UNALIGNED, ALTERNATE, ENDPOINT)
    endpoint = align_with_label(label, _endpoint_alignment(treatment), u_endpoint)
    alternate = align_with_label(label, _alternate_alignment(treatment), u_alternate)
    if treatment.mechanism == "invert":
        alternate = -alternate
    return Channels(context, np.where(context == ENDPOINT, endpoint, alternate))


def with_channels(features: NDArray[np.float32], channels: Channels) -> NDArray[np.float32]:
    """(n, 54) natural features → (n, 56) inputs: context and factor are the last two columns."""
    return np.column_stack([features, np.stack(channels, axis=1).astype(np.float32)])


def _endpoint_alignment(treatment: Treatment) -> float:
    return cast("float", treatment.strength) if treatment.module == "direction" else UNALIGNED


def _alternate_alignment(treatment: Treatment) -> float:
    if treatment.module == "fragility":
        return ALTERNATE_ALIGNMENT[treatment.mechanism]
    return UNALIGNED if treatment.mechanism == "gate" else cast("float", treatment.strength)
