"""Units of work: pieces of a study that are computed and committed once, by key."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property

from decaf.foundation.digests import json_sha256, short
from decaf.foundation.names import shown_name

PAIRS = "pairs"
"""Name of the part that differs between blocks: the digest of a block's pairs."""


@dataclass(frozen=True)
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
    parts: Mapping[str, str]
    """Settings and inputs that determine the result, by name."""
    needs: "tuple[Unit, ...]" = ()
    """Units whose results it reads."""
    made_by: "Mapping[str, Unit]" = field(default_factory=dict)
    """Units that write a file that it reads, by the part that identifies the file's content."""
    row_count: int | None = None
    """Number of rows of its result; None if it depends on the result."""

    @cached_property
    def key(self) -> str:
        """Digest of kind, parts and needs."""
        needed_keys = sorted(unit.key for unit in self.needs)
        return short(json_sha256([self.kind, dict(self.parts), needed_keys]))

    @property
    def slot(self) -> tuple[str, str, str | None, int | None]:
        """Kind, name, model and block; units with equal slots replace each other."""
        return self.kind, self.name, self.model_id, self.block

    @property
    def label(self) -> str:
        """The slot as one word, for names of tasks."""
        block = None if self.block is None else f"{self.block:05d}"
        return "-".join(filter(None, (self.model_id, block, self.kind, self.name)))

    def describe(self, names: Mapping[str, str]) -> str:
        """Model and block for people, else the work; ``names`` are those that the study sets.

        Units of a block are computed together, and a line of progress has 80 characters.
        """
        model = self.model_id and names.get(self.model_id, self.model_id)
        work = f"{self.kind} {shown_name(self.name, names)}".rstrip()
        part = work if self.block is None else f"block {self.block + 1:,}"
        return ", ".join(filter(None, (model, part)))
