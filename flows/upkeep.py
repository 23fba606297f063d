"""Commands that keep a warehouse in shape; no number changes."""

from datetime import timedelta

from rich.console import Console

from warehouse import receipts, storage
from warehouse.compaction import Extent, compact
from warehouse.garbage import delete_garbage, find_garbage
from warehouse.lock import held_studies
from warehouse.migrations import check_version, stored_version, upgrade
from warehouse.storage import Root


def compact_studies(console: Console, root: Root, study: str | None) -> None:
    """Compact one study, or all of a warehouse; print files and bytes before and after."""
    root = storage.resolved(root)
    stored_version(root)
    upgrade(root)
    for name in [study] if study else receipts.studies(root):
        done = compact(root, name)
        change = f"{_extent(done.before)} before, {_extent(done.after)} now"
        text = "nothing to fold" if done.before == done.after else change
        console.print(f"study {name}: {text}", highlight=False)


def collect_garbage(console: Console, root: Root, older_than: float, *, is_real: bool) -> None:
    """Print what can be deleted, with bytes; delete it when it ``is_real``.

    Parameters
    ----------
    older_than
        Grace period, days.
    """
    root, grace = storage.resolved(root), timedelta(days=older_than)
    check_version(root)
    found = delete_garbage(root, grace) if is_real else find_garbage(root, grace)
    for garbage in found:
        size = f"{garbage.byte_count:>12,}"
        console.print(f"{size}  {garbage.path}: {garbage.reason}", highlight=False, markup=False)
    held = held_studies(root)
    left_out = f"; {', '.join(held)} is being audited and left out" if held else ""
    total = sum(garbage.byte_count for garbage in found)
    did = "deleted" if is_real else "can be deleted: decaf gc --delete"
    text = f"{len(found)} files ({total / 1e6:.2f} MB) {did}" if found else "nothing to delete"
    console.print(f"{text}{left_out}", highlight=False, markup=False)


def _extent(extent: Extent) -> str:
    return f"{extent.file_count} files ({extent.byte_count / 1e6:.2f} MB)"
