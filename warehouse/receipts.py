"""Receipts: a commit exists when, and only when, its receipt does.

A receipt is a small JSON file that lists the files of the commit with their rows, bytes and
digests, the fields that went into the key, and the software that computed it. It is written last.
"""

import json
from collections.abc import Iterable, Iterator
from dataclasses import asdict, dataclass

from decaf.errors import WarehouseError
from warehouse import layout, storage
from warehouse.storage import Entry, Root, Storage

KINDS = (
    "shards",
    "profiles",
    "measurements",
    "baselines",
    "pairs",
    "runs",
    "analyses",
    "outcomes",
    "reaudits",
    "verdicts",
    "alerts",
    "compactions",
)
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


def read_one(root: Root, kind: str, study: str, key: str) -> Receipt:
    """Receipt of one commit.

    Raises
    ------
    WarehouseError
        When there is none, or it is damaged.
    """
    store, path = storage.open(root), layout.receipt(kind, study, key)
    try:
        content = store.read(path)
    except FileNotFoundError:
        raise WarehouseError(f"{store.place(path)} is not there: nothing is committed") from None
    return parse(content, store.place(path))


def parse(content: bytes, place: str) -> Receipt:
    """Make a receipt of what its file holds; ``place`` is what an error calls it.

    Raises
    ------
    WarehouseError
        When the file is not a receipt.
    """
    try:
        fields = json.loads(content)
        files = tuple(CommittedFile(**file) for file in fields.pop("files"))
        return Receipt(files=files, **fields)
    except (ValueError, TypeError, KeyError, AttributeError) as error:
        raise WarehouseError(
            f"{place} is not a receipt of this warehouse ({error}); move it away, then run the "
            "audit again: what it stood for is scored anew"
        ) from error


def exists(root: Root, kind: str, study: str, key: str) -> bool:
    """Whether a commit is there."""
    return storage.open(root).exists(layout.receipt(kind, study, key))


def keys(root: Root, kind: str, study: str) -> set[str]:
    """Keys that are committed, from the names of the receipts alone."""
    folder = layout.receipts_folder(kind, study)
    return {layout.stem(entry.key) for entry in _listed(storage.open(root), folder)}


def studies(root: Root) -> list[str]:
    """Studies of which anything was ever committed, sorted."""
    parts = (entry.key.split("/") for entry in _listed(storage.open(root), layout.RECEIPTS))
    return sorted({study for _, _, study, _ in (p for p in parts if len(p) == 4)})


def read_kind(root: Root, kind: str, study: str) -> Iterator[Receipt]:
    """Receipts of one kind and study, sorted by key."""
    store = storage.open(root)
    yield from _parse_all(store, _listed(store, layout.receipts_folder(kind, study)))


def read(root: Root) -> Iterator[Receipt]:
    """All receipts of the warehouse, sorted by path, the kinds in the order of ``KINDS``."""
    store = storage.open(root)
    for kind in KINDS:
        yield from _parse_all(store, _listed(store, f"{layout.RECEIPTS}/{kind}"))


def _listed(store: Storage, folder: str) -> list[Entry]:
    return store.entries(folder, (".json",))


def _parse_all(store: Storage, entries: Iterable[Entry]) -> Iterator[Receipt]:
    """Parse receipts; one that is withdrawn between its listing and its reading is not there."""
    for key, content in store.read_listed(entries):
        yield parse(content, store.place(key))
