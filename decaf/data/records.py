"""A clean input and a pair of inputs, one by one."""

from dataclasses import dataclass


@dataclass(frozen=True)
class Input:
    """One clean input of a data set: its name, kind, and the digest of what it is made from.

    ``location`` is where the adapter finds it, and ``file`` which file of the data set that is,
    wherever it lies, or None; ``shape`` is that of the array which is read, said of all inputs of
    data whose inputs may differ in it, or of none. None of these is part of its identity.
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

    Where the pair is about a feature of the factual input, ``feature`` counts from 1; both
    positions are the same where a path removes it, others where an input without it is given.
    ``context`` are the positions of the same two inputs under a swapped context, for paths that
    need them. ``weight`` is how much the pair counts in means over pairs, finite and above 0, and
    ``groups`` what else is said of the pair, as names and values that a report divides pairs by;
    nothing that is scored depends on either.
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
