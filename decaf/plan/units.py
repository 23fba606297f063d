"""A unit of work: what is computed once, committed once, and known by what determines it."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property

from decaf.foundation.digests import json_sha256, short


@dataclass(frozen=True)
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
    made_by: "Mapping[str, Unit]" = field(default_factory=dict)
    """Units that make a file which it reads, by the part that says what is in that file."""
    row_count: int | None = None
    """Rows that its result has; None where that depends on what comes out."""

    @cached_property
    def key(self) -> str:
        """Digest of kind, parts and needs."""
        needs = sorted(unit.key for unit in self.needs)
        return short(json_sha256([self.kind, dict(self.parts), needs]))

    @property
    def slot(self) -> tuple[str, str, str | None, int | None]:
        """What the unit is of, whatever its parts: units of one slot replace each other."""
        return self.kind, self.name, self.model_id, self.block

    @property
    def label(self) -> str:
        """The slot in words, for messages and names of tasks."""
        block = None if self.block is None else f"{self.block:05d}"
        return "-".join(filter(None, (self.model_id, block, self.kind, self.name)))
