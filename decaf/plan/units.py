"""Units of work: pieces of a study that are computed and committed once, by key."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import cast

from decaf.foundation.digests import json_text, short, text_sha256

PAIRS = "pairs"
"""Name of the part that differs between blocks: the digest of a block's pairs."""


class SharedParts(Mapping[str, str]):
    """Parts that the units of all blocks share, stored and encoded as JSON once."""

    def __init__(self, values: Mapping[str, str]) -> None:
        self._values = values

    def __getitem__(self, name: str) -> str:
        return self._values[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self._values)

    def __len__(self) -> int:
        return len(self._values)

    @cached_property
    def _json_around_pairs(self) -> tuple[str, str]:
        """JSON of the parts before and after the digest of a block's pairs."""
        texts = {name: f"{json_text(name)}:{json_text(text)}" for name, text in self.items()}
        before = [texts[name] for name in sorted(texts) if name < PAIRS]
        after = [texts[name] for name in sorted(texts) if name > PAIRS]
        return "{" + ",".join([*before, f"{json_text(PAIRS)}:"]), ",".join(["", *after]) + "}"

    def json(self, pairs: str) -> str:
        """JSON of the parts of a unit of one block, sorted by name."""
        before, after = self._json_around_pairs
        return before + json_text(pairs) + after


@dataclass(frozen=True, slots=True)
class Unit:
    """One piece of work of a study.

    Its key is a digest of its kind, its parts and the keys of the units that it needs. Units with
    equal parts have equal results, so none is computed twice. Exactly the inputs that change a
    result are parts. A file of another unit counts by its content: an equal file changes no key.
    """

    kind: str
    """Name of the file of ``tasks/units/`` that plans and computes it."""
    name: str
    """Path, method or analysis; empty if its kind has one unit for each model and block."""
    model_id: str | None
    """Model; None for a unit of all models."""
    block: int | None
    """Position of its block of pairs; None for a unit of all pairs."""
    shared: Mapping[str, str]
    """Inputs that determine the result, by name, except ``pairs``."""
    needs: "tuple[Unit, ...]" = ()
    """Units whose results it reads."""
    made_by: "Mapping[str, Unit]" = field(default_factory=lambda: NONE)
    """Units that write a file that it reads, by the part that identifies the file's content."""
    row_count: int | None = None
    """Number of rows of its result; None if it depends on the result."""
    pairs: str | None = None
    """Digest of the pairs of its block, if that is a part; ``shared`` is then a SharedParts.

    A study may have millions of units: a mapping for each would take more memory than a key.
    """
    _key: str = field(default="", init=False, repr=False, compare=False)

    @property
    def key(self) -> str:
        """Digest of kind, parts and needs, computed once."""
        if not self._key:
            text = json_text(dict(self.shared)) if self.pairs is None else self._json_of_block()
            needs = ",".join(json_text(key) for key in sorted(unit.key for unit in self.needs))
            digest = text_sha256(f"[{json_text(self.kind)},{text},[{needs}]]")
            object.__setattr__(self, "_key", short(digest))
        return self._key

    def _json_of_block(self) -> str:
        return cast("SharedParts", self.shared).json(cast("str", self.pairs))

    @property
    def parts(self) -> Mapping[str, str]:
        """Settings and inputs that determine the result, by name."""
        return self.shared if self.pairs is None else {PAIRS: self.pairs, **self.shared}

    @property
    def slot(self) -> tuple[str, str, str | None, int | None]:
        """Kind, name, model and block; units with equal slots replace each other."""
        return self.kind, self.name, self.model_id, self.block

    @property
    def label(self) -> str:
        """The slot in words, for messages and names of tasks."""
        block = None if self.block is None else f"{self.block:05d}"
        return "-".join(filter(None, (self.model_id, block, self.kind, self.name)))


NONE: Mapping[str, Unit] = {}
"""Empty mapping that all units share: one for each would take more memory than a key."""
