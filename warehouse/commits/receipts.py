"""Receipts: a commit exists when, and only when, its receipt does and no withdrawal names it.

A receipt is a small JSON file that lists the files of the commit with their rows, bytes and
digests, the units of work that it holds, and the software that computed it. It is written last.

A withdrawal is a receipt too. Its ``inputs`` are names of commits with their moments, and all of
these are gone at once as soon as it is there, whenever their own receipts are deleted. A commit
that is made again has another moment, so an old withdrawal does not concern it.
"""

import json
import re
from collections.abc import Iterable, Iterator, Sequence, Set
from dataclasses import asdict, dataclass
from datetime import datetime

from decaf.errors import WarehouseError
from warehouse.commits import layout
from warehouse.storage import Entry, Storage
from warehouse.tables.declarations import TABLES

KINDS = (
    "units",
    "pairs",
    "stops",
    "runs",
    "outcomes",
    "pictures",
    "forcings",
    "reaudits",
    "verdicts",
    "acceptances",
    "alerts",
    "withdrawals",
    "compactions",
)
"""In the order of reading. What was deleted while commits were read was withdrawn before, so
withdrawals come after them. Compactions come last: one that is read after its commits can only name
what is there, and what a withdrawal leaves of an older one was folded before it."""
WITHDRAWALS = "withdrawals"
SHA256 = re.compile("[0-9a-f]{64}")


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
    units: tuple[str, ...]
    """Keys of the units of work whose rows the commit holds, or that an upgrade left behind."""
    inputs: dict[str, str]
    """What was recorded, forced, folded or withdrawn, by name; empty for units."""
    software: dict[str, str]

    @property
    def name(self) -> str:
        """Name of the commit inside its study, as compactions and withdrawals list it."""
        return f"{self.kind}/{self.key}"

    def to_json(self) -> str:
        """Serialise; the inverse of :func:`parse`."""
        return json.dumps(asdict(self), indent=1, sort_keys=True) + "\n"


def read_one(store: Storage, kind: str, study: str, key: str) -> Receipt:
    """Receipt of one commit.

    Raises WarehouseError when there is none, or it is damaged.
    """
    receipt = _find(store, kind, study, key)
    if receipt is None:
        place = store.place(layout.receipt(kind, study, key))
        raise WarehouseError(f"{place} is not there: nothing is committed")
    return receipt


def parse(content: bytes, key: str, place: str) -> Receipt:
    """Make a receipt of what its file holds; ``key`` is where that lies, ``place`` what people see.

    Raises WarehouseError when the file is not the receipt of that key, or a field is not what
    :func:`warehouse.commits.writer.commit` writes there.
    """
    try:
        fields = json.loads(content.decode())
        files = tuple(CommittedFile(**file) for file in fields.pop("files"))
        units = fields.pop("units")
        if not isinstance(units, list):
            raise TypeError(f"units is {type(units).__name__}, no list")
        receipt = Receipt(files=files, units=tuple(units), **fields)
        _check(receipt, key)
    except (
        *(ValueError, TypeError, KeyError, AttributeError, RecursionError),
        WarehouseError,
    ) as error:
        raise WarehouseError(
            f"{place} is not a receipt of this warehouse ({type(error).__name__}: {error}); decaf "
            "check --repair puts it aside, and the next run computes again what it stood for"
        ) from error
    return receipt


def _check(receipt: Receipt, key: str) -> None:
    """Raise the error that a field gives which is not what is written there."""
    if layout.receipt(receipt.kind, receipt.study, receipt.key) != key:
        raise ValueError(f"it is of {receipt.kind}/{receipt.study}/{receipt.key}")
    if datetime.fromisoformat(receipt.committed_at).tzinfo is None:
        raise ValueError(f"committed_at {receipt.committed_at} is of no time zone")
    partition = {"study": receipt.study, "model_id": receipt.model_id or ""}
    for file in receipt.files:
        if file.table not in TABLES:
            raise ValueError(f"there is no table {file.table!r}")
        if file.path != layout.table_file(file.table, partition, receipt.key):
            raise ValueError(f"{file.path!r} is no file of it in the table {file.table}")
        if not all(type(n) is int and n > 0 for n in (file.row_count, file.byte_count)):
            raise ValueError(f"{file.path} has {file.row_count} rows, {file.byte_count} bytes")
        if not SHA256.fullmatch(file.sha256):
            raise ValueError(f"{file.path} has the sha256 {file.sha256!r}")
    given = [receipt.inputs, receipt.software, {receipt.model_id or "": ""}]
    texts = [*receipt.units, *(text for each in given for item in each.items() for text in item)]
    if not all(isinstance(text, str) for text in texts):
        raise TypeError("a unit, an input, a version or the model is not a text")
    "".join(texts).encode()


def exists(store: Storage, kind: str, study: str, key: str) -> bool:
    """Whether a commit is there."""
    return _find(store, kind, study, key) is not None


def keys(store: Storage, kind: str, study: str) -> set[str]:
    """Keys that are committed, from the names of the receipts and what was withdrawn."""
    entries = _listed(store, layout.receipts_folder(kind, study))
    left = {receipt.key for receipt in _withdrawn_of(store, study, entries)}
    return {layout.stem(entry.key) for entry in entries} - left


def studies(store: Storage) -> list[str]:
    """Studies of which anything was ever committed, sorted."""
    parts = (entry.key.split("/") for entry in _listed(store, layout.RECEIPTS))
    return sorted({study for _, _, study, _ in (p for p in parts if len(p) == 4)})


def read_kind(store: Storage, kind: str, study: str) -> Iterator[Receipt]:
    """Receipts of one kind and study, sorted by key."""
    return read(store, study, (kind,))


def read_newest(store: Storage, kind: str, study: str) -> Receipt | None:
    """Receipt of the last commit of one kind and study; None without any."""
    committed = read_kind(store, kind, study)
    return max(committed, key=lambda one: datetime.fromisoformat(one.committed_at), default=None)


def read_some(store: Storage, kind: str, study: str, keys: Set[str]) -> Iterator[Receipt]:
    """Receipts of one kind and study that have some keys, sorted by key; no other is read."""
    listed = _listed(store, layout.receipts_folder(kind, study))
    wanted = [entry for entry in listed if layout.stem(entry.key) in keys]
    gone = _gone(store, study)
    return (receipt for receipt in _parse_all(store, wanted) if _face(receipt) not in gone)


def read(
    store: Storage, study: str | None = None, kinds: Sequence[str] = KINDS
) -> Iterator[Receipt]:
    """Receipts of the warehouse, or of one study, sorted by path, the kinds in their order."""
    committed = [
        receipt
        for kind in KINDS
        if kind in (*kinds, WITHDRAWALS)
        for receipt in _parse_all(store, _listed(store, layout.receipts_folder(kind, study)))
    ]
    gone = {
        (receipt.study, *named)
        for receipt in committed
        if receipt.kind == WITHDRAWALS
        for named in receipt.inputs.items()
    }
    for receipt in committed:
        if receipt.kind in kinds and (receipt.study, *_face(receipt)) not in gone:
            yield receipt


def withdrawn(store: Storage, study: str) -> list[Receipt]:
    """Receipts that are still there although their commits were withdrawn."""
    if not _listed(store, layout.receipts_folder(WITHDRAWALS, study)):
        return []
    entries = [
        entry for kind in KINDS for entry in _listed(store, layout.receipts_folder(kind, study))
    ]
    return _withdrawn_of(store, study, entries)


def _find(store: Storage, kind: str, study: str, key: str) -> Receipt | None:
    """Receipt of a commit that is there and was not withdrawn."""
    path = layout.receipt(kind, study, key)
    try:
        receipt = parse(store.read(path), path, store.place(path))
    except FileNotFoundError:
        return None
    return None if _face(receipt) in _gone(store, study) else receipt


def _withdrawn_of(store: Storage, study: str, entries: Iterable[Entry]) -> list[Receipt]:
    """Those of the listed receipts that a withdrawal names; only they are read."""
    gone = _gone(store, study)
    names = (name.split("/") for name, _ in gone)
    paths = {layout.receipt(kind, study, key) for kind, key in names}
    suspects = [entry for entry in entries if entry.key in paths]
    return [receipt for receipt in _parse_all(store, suspects) if _face(receipt) in gone]


def _gone(store: Storage, study: str) -> set[tuple[str, str]]:
    """Names and moments of the commits of a study that were withdrawn."""
    entries = _listed(store, layout.receipts_folder(WITHDRAWALS, study))
    withdrawals = _parse_all(store, entries)
    return {named for withdrawal in withdrawals for named in withdrawal.inputs.items()}


def _face(receipt: Receipt) -> tuple[str, str]:
    """How compactions and withdrawals name a commit: by name and moment."""
    return receipt.name, receipt.committed_at


def _listed(store: Storage, folder: str) -> list[Entry]:
    return store.entries(folder, (".json",))


def _parse_all(store: Storage, entries: Iterable[Entry]) -> Iterator[Receipt]:
    """Parse receipts; one that is withdrawn between its listing and its reading is not there."""
    for key, content in store.read_listed(entries):
        yield parse(content, key, store.place(key))
