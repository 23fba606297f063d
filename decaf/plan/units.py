"""A unit of work: what is computed once, committed once, and known by what determines it."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import cast

from decaf.foundation.digests import json_text, short, text_sha256

PAIRS = "pairs"
"""The part that the units of a block have of their own: a digest of its pairs."""


class SharedParts(Mapping[str, str]):
    """Parts that units of all blocks share, held and written as JSON once for all of them."""

    def __init__(self, values: Mapping[str, str]) -> None:
        self._values = values

    def __getitem__(self, name: str) -> str:
        return self._values[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self._values)

    def __len__(self) -> int:
        return len(self._values)

    @cached_property
    def _around(self) -> tuple[str, str]:
        """The JSON of the parts of any block, before and after the digest of its pairs."""
        texts = {name: f"{json_text(name)}:{json_text(text)}" for name, text in self.items()}
        before = [texts[name] for name in sorted(texts) if name < PAIRS]
        after = [texts[name] for name in sorted(texts) if name > PAIRS]
        return "{" + ",".join([*before, f"{json_text(PAIRS)}:"]), ",".join(["", *after]) + "}"

    def json(self, pairs: str) -> str:
        """JSON of the parts of a unit of one block, sorted by name."""
        before, after = self._around
        return before + json_text(pairs) + after


@dataclass(frozen=True, slots=True)
class Unit:
    """One piece of work of a study.

    Its key is a digest of its kind, its parts and the keys of what it needs: a unit whose parts are
    equal has equal results, so it is never computed twice. Everything that changes a result is a
    part; nothing else is. A file that another unit makes counts by its content: made again, and
    equal, it changes no key.
    """

    kind: str
    """Which file of ``tasks/units/`` plans and computes it."""
    name: str
    """Path, method or analysis; empty where a kind has one unit of a model and block."""
    model_id: str | None
    """None where it is of all models together."""
    block: int | None
    """Position of its block of pairs; None where it is of all pairs together."""
    shared: Mapping[str, str]
    """What determines the result, by name, but for its ``pairs``."""
    needs: "tuple[Unit, ...]" = ()
    """Units whose results it reads."""
    made_by: "Mapping[str, Unit]" = field(default_factory=lambda: NONE)
    """Units that make a file which it reads, by the part that says what is in that file."""
    row_count: int | None = None
    """Rows that its result has; None where that depends on what comes out."""
    pairs: str | None = None
    """Digest of the pairs of its block, where that is a part; the others are SharedParts then.

    A study may have millions of units: a mapping for each would take more memory than a key.
    """
    _key: str = field(default="", init=False, repr=False, compare=False)

    @property
    def key(self) -> str:
        """Digest of kind, parts and needs, taken once."""
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
"""One for all units: an empty mapping of its own for each would take more memory than a key."""
