"""A unit of work: what is computed once, committed once, and known by what determines it."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from functools import cached_property

from decaf.foundation.digests import json_text, short, text_sha256

PAIRS = "pairs"
"""The part that the units of a block have of their own: a digest of its pairs."""


@dataclass(frozen=True)
class SharedParts:
    """Parts that units of all blocks share, held and written as JSON once for all of them."""

    values: Mapping[str, str]

    def of_block(self, pairs: str) -> "BlockParts":
        """The parts of a unit of one block, with the digest of its pairs."""
        return BlockParts(self, pairs)

    @cached_property
    def around(self) -> tuple[str, str]:
        """The JSON of the parts of any block, before and after the digest of its pairs."""
        texts = {name: f"{json_text(name)}:{json_text(text)}" for name, text in self.values.items()}
        before = [texts[name] for name in sorted(texts) if name < PAIRS]
        after = [texts[name] for name in sorted(texts) if name > PAIRS]
        return "{" + ",".join([*before, f"{json_text(PAIRS)}:"]), ",".join(["", *after]) + "}"


class BlockParts(Mapping[str, str]):
    """Parts of a unit of a block, as a mapping. A study may have millions of them."""

    __slots__ = ("_pairs", "_shared")

    def __init__(self, shared: SharedParts, pairs: str) -> None:
        self._shared, self._pairs = shared, pairs

    def __getitem__(self, name: str) -> str:
        return self._pairs if name == PAIRS else self._shared.values[name]

    def __iter__(self) -> Iterator[str]:
        yield PAIRS
        yield from self._shared.values

    def __len__(self) -> int:
        return 1 + len(self._shared.values)

    @property
    def json(self) -> str:
        """The parts as JSON, sorted by name."""
        before, after = self._shared.around
        return before + json_text(self._pairs) + after


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
    parts: Mapping[str, str]
    """What determines the result, by name."""
    needs: "tuple[Unit, ...]" = ()
    """Units whose results it reads."""
    made_by: "Mapping[str, Unit]" = field(default_factory=lambda: NONE)
    """Units that make a file which it reads, by the part that says what is in that file."""
    row_count: int | None = None
    """Rows that its result has; None where that depends on what comes out."""
    _key: str = field(default="", init=False, repr=False, compare=False)

    @property
    def key(self) -> str:
        """Digest of kind, parts and needs, taken once."""
        if not self._key:
            parts = self.parts
            text = parts.json if isinstance(parts, BlockParts) else json_text(dict(parts))
            needs = ",".join(json_text(key) for key in sorted(unit.key for unit in self.needs))
            digest = text_sha256(f"[{json_text(self.kind)},{text},[{needs}]]")
            object.__setattr__(self, "_key", short(digest))
        return self._key

    @property
    def slot(self) -> tuple[str, str, str | None, int | None]:
        """What the unit is of, whatever its parts: units of one slot replace each other."""
        return self.kind, self.name, self.model_id, self.block

    @property
    def label(self) -> str:
        """The slot in words, for messages and names of tasks."""
        block = None if self.block is None else f"{self.block:05d}"
        return "-".join(filter(None, (self.model_id, block, self.kind, self.name)))


NONE: Mapping[str, Unit] = {}
"""One for all units: an empty mapping of its own for each would take more memory than a key."""
