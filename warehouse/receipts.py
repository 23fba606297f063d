"""Receipts: a commit exists when, and only when, its receipt does.

A receipt is a small JSON file that lists the files of the commit with their rows, bytes and
digests, the fields that went into the key, and the software that computed it. It is written last.
"""

import json
from collections.abc import Iterable, Iterator
from contextlib import suppress
from dataclasses import asdict, dataclass
from pathlib import Path

from decaf.errors import WarehouseError
from warehouse import layout

KINDS = ("shards", "profiles", "pairs", "runs", "outcomes", "compactions")
"""Compactions come last: one that is read after its commits can only name what is there."""


@dataclass(frozen=True)
class CommittedFile:
    """One file of a commit; ``path`` is relative to the warehouse root."""

    table: str
    path: str
    row_count: int
    byte_count: int
    sha256: str


@dataclass(frozen=True)
class Receipt:
    """What was committed under a key, when, from which inputs."""

    kind: str
    study: str
    key: str
    model_id: str | None
    committed_at: str
    files: tuple[CommittedFile, ...]
    inputs: dict[str, str]
    software: dict[str, str]

    def to_json(self) -> str:
        """Serialise; the inverse of :func:`parse`."""
        return json.dumps(asdict(self), indent=1, sort_keys=True) + "\n"


def parse(path: Path) -> Receipt:
    """Read one receipt file.

    Raises
    ------
    WarehouseError
        When the file is not a receipt.
    """
    try:
        fields = json.loads(path.read_text())
        files = tuple(CommittedFile(**file) for file in fields.pop("files"))
        return Receipt(files=files, **fields)
    except (ValueError, TypeError, KeyError, AttributeError) as error:
        raise WarehouseError(
            f"{path} is not a receipt of this warehouse ({error}); move it away, then run the "
            "audit again: what it stood for is scored anew"
        ) from error


def keys(root: Path, kind: str, study: str) -> set[str]:
    """Keys that are committed, from the names of the receipts alone."""
    folder = layout.receipts_folder(root, kind, study)
    return {path.stem for path in folder.glob("*.json")}


def studies(root: Path) -> list[str]:
    """Studies of which anything was ever committed, sorted."""
    return sorted({path.name for path in (root / "receipts").glob("*/*") if path.is_dir()})


def read_kind(root: Path, kind: str, study: str) -> Iterator[Receipt]:
    """Receipts of one kind and study, sorted by key."""
    yield from _parse_all(layout.receipts_folder(root, kind, study).glob("*.json"))


def read(root: Path) -> Iterator[Receipt]:
    """All receipts of the warehouse, sorted by path, the kinds in the order of ``KINDS``."""
    for kind in KINDS:
        yield from _parse_all((root / "receipts" / kind).glob("*/*.json"))


def _parse_all(paths: Iterable[Path]) -> Iterator[Receipt]:
    """Parse receipts; one that is withdrawn between its listing and its reading is not there."""
    for path in sorted(paths):
        with suppress(FileNotFoundError):
            yield parse(path)
