"""Receipts: a commit exists if its receipt exists and no withdrawal names it.

A receipt is a small JSON file that lists the files of the commit with their rows, bytes and
digests, the units of work that it holds, and the software that computed it. It is written last.

A withdrawal is also a receipt. Its ``inputs`` map names of commits to their commit times. All
these commits are withdrawn at once when the withdrawal is written; their own receipts can be
deleted later. A repeated commit has another time, so an older withdrawal does not affect it.
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
    "trials",
    "runs",
    "failures",
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
"""Kinds of commits, in the order of reading, which matters while others write.

Withdrawals are read after other commits: a receipt is deleted only after its withdrawal exists, so
a reader that misses the receipt finds the withdrawal. Compactions are read last: each is newer than
the commits that it names. Commits that a withdrawal leaves are compacted again before it is
written, so a reader that finds the withdrawal finds that compaction, too."""
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
    """Record of one commit."""

    kind: str
    study: str
    key: str
    model_id: str | None
    committed_at: str
    files: tuple[CommittedFile, ...]
    units: tuple[str, ...]
    """Keys of the units whose rows the commit holds."""
    inputs: dict[str, str]
    """Not clean inputs: values of the kind of commit, as withdrawn commits; empty for units."""
    software: dict[str, str]

    @property
    def name(self) -> str:
        """Name of the commit inside its study, as compactions and withdrawals list it."""
        return f"{self.kind}/{self.key}"

    def to_json(self) -> str:
        """Serialise; the inverse of :func:`parse`."""
        return json.dumps(asdict(self), indent=1, sort_keys=True) + "\n"


def read_one(store: Storage, kind: str, study: str, key: str) -> Receipt:
    """Read the receipt of one commit.

    Raises WarehouseError when there is none, or it is damaged.
    """
    receipt = _find(store, kind, study, key)
    if receipt is None:
        place = store.place(layout.receipt(kind, study, key))
        raise WarehouseError(f"{place} does not exist: nothing was committed under this key")
    return receipt


def parse(content: bytes, key: str, place: str) -> Receipt:
    """Parse the content of a receipt's file; ``key`` is that of the file, ``place`` its address.

    Raises WarehouseError when the file is not the receipt of that key, or a field has a value that
    :func:`warehouse.commits.writer.commit` does not write.
    """
    try:
        fields = json.loads(content.decode())
        files = tuple(CommittedFile(**file) for file in fields.pop("files"))
        units = fields.pop("units")
        if not isinstance(units, list):
            raise TypeError(f"units is of type {type(units).__name__}; expected a list")
        receipt = Receipt(files=files, units=tuple(units), **fields)
        _check(receipt, key)
    except (
        *(ValueError, TypeError, KeyError, AttributeError, RecursionError),
        WarehouseError,
    ) as error:
        raise WarehouseError(
            f"{place} is not a receipt of this warehouse ({type(error).__name__}: {error}); decaf "
            "check --repair moves it aside, and the next run computes its units again"
        ) from error
    return receipt


def _check(receipt: Receipt, key: str) -> None:
    """Raise ValueError or TypeError for a field that decaf would not write."""
    if layout.receipt(receipt.kind, receipt.study, receipt.key) != key:
        raise ValueError(f"it is the receipt of {receipt.kind}/{receipt.study}/{receipt.key}")
    if datetime.fromisoformat(receipt.committed_at).tzinfo is None:
        raise ValueError(f"committed_at {receipt.committed_at} has no time zone")
    partition = {"study": receipt.study, "model_id": receipt.model_id or ""}
    for file in receipt.files:
        if file.table not in TABLES:
            raise ValueError(f"there is no table {file.table!r}")
        expected = layout.table_file(file.table, partition, receipt.key)
        if file.path != expected:
            raise ValueError(
                f"it names the file {file.path!r} of table {file.table}; expected {expected!r}"
            )
        if not all(type(n) is int and n > 0 for n in (file.row_count, file.byte_count)):
            raise ValueError(f"{file.path} has {file.row_count} rows, {file.byte_count} bytes")
        if not SHA256.fullmatch(file.sha256):
            raise ValueError(f"{file.path} has the sha256 {file.sha256!r}")
    text_maps = [receipt.inputs, receipt.software, {receipt.model_id or "": ""}]
    texts = [
        *receipt.units,
        *(text for each in text_maps for item in each.items() for text in item),
    ]
    if not all(isinstance(text, str) for text in texts):
        raise TypeError("a unit, an input, a version or the model is not text")
    "".join(texts).encode()


def exists(store: Storage, kind: str, study: str, key: str) -> bool:
    """True if a commit exists."""
    return _find(store, kind, study, key) is not None


def keys(store: Storage, kind: str, study: str) -> set[str]:
    """Keys of one kind and study that are committed; reads only receipts of withdrawals."""
    entries = _list_receipts(store, layout.receipts_folder(kind, study))
    withdrawn_keys = {receipt.key for receipt in _read_withdrawn(store, study, entries)}
    return {layout.stem(entry.key) for entry in entries} - withdrawn_keys


def studies(store: Storage) -> list[str]:
    """Studies that have or had a commit, sorted."""
    parts = (entry.key.split("/") for entry in _list_receipts(store, layout.RECEIPTS))
    return sorted({study for _, _, study, _ in (p for p in parts if len(p) == 4)})


def read_kind(store: Storage, kind: str, study: str) -> Iterator[Receipt]:
    """Receipts of one kind and study, sorted by key."""
    return read(store, study, (kind,))


def read_newest(store: Storage, kind: str, study: str) -> Receipt | None:
    """Receipt of the last commit of one kind and study, or None."""
    committed = read_kind(store, kind, study)
    return max(
        committed, key=lambda receipt: datetime.fromisoformat(receipt.committed_at), default=None
    )


def read_some(store: Storage, kind: str, study: str, keys: Set[str]) -> Iterator[Receipt]:
    """Receipts of one kind and study with given keys, sorted by key; reads no other receipt."""
    listed = _list_receipts(store, layout.receipts_folder(kind, study))
    entries = [entry for entry in listed if layout.stem(entry.key) in keys]
    withdrawals = _list_withdrawals(store, study)
    return (
        receipt for receipt in _parse_all(store, entries) if _identity(receipt) not in withdrawals
    )


def read(
    store: Storage, study: str | None = None, kinds: Sequence[str] = KINDS
) -> Iterator[Receipt]:
    """Receipts of the warehouse or of one study, sorted by kind (as in ``KINDS``), then by path."""
    committed = [
        receipt
        for kind in KINDS
        if kind in (*kinds, WITHDRAWALS)
        for receipt in _parse_all(store, _list_receipts(store, layout.receipts_folder(kind, study)))
    ]
    withdrawals = {
        (receipt.study, *identity)
        for receipt in committed
        if receipt.kind == WITHDRAWALS
        for identity in receipt.inputs.items()
    }
    for receipt in committed:
        if receipt.kind in kinds and (receipt.study, *_identity(receipt)) not in withdrawals:
            yield receipt


def read_withdrawn(store: Storage, study: str) -> list[Receipt]:
    """Receipts of withdrawn commits that are not deleted yet."""
    if not _list_receipts(store, layout.receipts_folder(WITHDRAWALS, study)):
        return []
    entries = [
        entry
        for kind in KINDS
        for entry in _list_receipts(store, layout.receipts_folder(kind, study))
    ]
    return _read_withdrawn(store, study, entries)


def _find(store: Storage, kind: str, study: str, key: str) -> Receipt | None:
    """Receipt of a commit that exists and was not withdrawn, or None."""
    path = layout.receipt(kind, study, key)
    try:
        receipt = parse(store.read(path), path, store.place(path))
    except FileNotFoundError:
        return None
    return None if _identity(receipt) in _list_withdrawals(store, study) else receipt


def _read_withdrawn(store: Storage, study: str, entries: Iterable[Entry]) -> list[Receipt]:
    """Receipts of withdrawn commits among entries; reads no other receipt."""
    withdrawals = _list_withdrawals(store, study)
    names = (name.split("/") for name, _ in withdrawals)
    paths = {layout.receipt(kind, study, key) for kind, key in names}
    suspects = [entry for entry in entries if entry.key in paths]
    return [receipt for receipt in _parse_all(store, suspects) if _identity(receipt) in withdrawals]


def _list_withdrawals(store: Storage, study: str) -> set[tuple[str, str]]:
    """Identities of the withdrawn commits of a study."""
    entries = _list_receipts(store, layout.receipts_folder(WITHDRAWALS, study))
    withdrawals = _parse_all(store, entries)
    return {identity for receipt in withdrawals for identity in receipt.inputs.items()}


def _identity(receipt: Receipt) -> tuple[str, str]:
    """Name and commit time by which compactions and withdrawals refer to a commit."""
    return receipt.name, receipt.committed_at


def _list_receipts(store: Storage, folder: str) -> list[Entry]:
    return store.entries(folder, (".json",))


def _parse_all(store: Storage, entries: Iterable[Entry]) -> Iterator[Receipt]:
    """Parse receipts; passes over a receipt that was deleted after its listing."""
    for key, content in store.read_listed(entries):
        yield parse(content, key, store.place(key))
