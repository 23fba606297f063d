"""A clean input and a pair of inputs, one by one."""

from dataclasses import dataclass


@dataclass(frozen=True)
class Input:
    """One clean input of a data set: its name, kind, and the digest of its source.

    ``location`` is the place where the adapter finds it, ``file`` the name of its file in the data
    set, or None. ``shape`` is the shape of the read array; data whose shapes may differ set it for
    all inputs, other data for none. Location, file and shape are not part of its identity.
    """

    image_id: str
    variant: str
    digest: str
    location: str
    file: str | None = None
    shape: tuple[int, ...] | None = None


@dataclass(frozen=True)
class Pair:
    """One factual and counterfactual input that differ by a controlled change.

    ``plus`` and ``minus`` are positions in the inputs of the pair set. Pairs of one ``source_id``
    (a foreground, a scene) share inputs and are resampled together.

    ``feature`` is the feature of the factual input that the pair is about, from 1. Both positions
    are the same if a path removes the feature; they differ if the data have an input without it.
    ``context`` are the positions of the same two inputs under a swapped context, for paths that
    need them. ``weight`` is the weight of the pair in means over pairs, finite and above 0.
    ``groups`` are names and values by which a report divides pairs. Scores depend on neither weight
    nor groups.
    """

    pair_id: str
    source_id: str
    pair_type: str
    class_id: int
    split: str
    plus: int
    minus: int
    feature: int = 0
    context: tuple[int, int] | None = None
    weight: float = 1.0
    groups: tuple[tuple[str, str], ...] = ()

    @property
    def positions(self) -> tuple[int, ...]:
        """Inputs that the pair uses, factual and counterfactual first."""
        return (self.plus, self.minus, *(self.context or ()))
