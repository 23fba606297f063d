"""Commands that keep a warehouse in shape; no number changes."""

import re
import time
from collections.abc import Sequence
from datetime import timedelta

from rich.console import Console
from rich.filesize import decimal

from decaf.errors import BadInput
from flows.commands.terminal import say
from tasks.progress import SECONDS_BETWEEN_LINES, announce
from tasks.verify import verify
from warehouse.commits import receipts
from warehouse.commits.lock import held_studies
from warehouse.commits.migrations import check_version, stored_version, upgrade
from warehouse.commits.seeds import write_missing_seeds
from warehouse.storage import Storage
from warehouse.upkeep.compaction import Extent, compact
from warehouse.upkeep.garbage import delete_garbage, find_garbage
from warehouse.upkeep.repair import repair
from warehouse.upkeep.retention import Keep, find_withdrawals, withdraw

MOST_DAYS = 36_500
KEEP = re.compile(r"([1-9]\d{0,5})(d?)")


def compact_studies(console: Console, store: Storage, study: str | None) -> None:
    """Compact one study, or all of a warehouse; print files and bytes before and after.

    A warehouse of an earlier decaf is first brought up to date; what that takes is printed, too.
    """
    stored_version(store)
    for step in upgrade(store):
        console.print(f"upgraded the warehouse from schema version {step.from_version}")
    if tables := write_missing_seeds(store):
        many = "file of table" if len(tables) == 1 else "files of tables"
        console.print(f"wrote the missing {many} {', '.join(tables)}")
    for name in [study] if study else receipts.studies(store):
        done = compact(store, name)
        change = f"{_extent(done.before)} before, {_extent(done.after)} now"
        text = "nothing to fold" if done.before == done.after else change
        console.print(f"study {name}: {text}")


def check(console: Console, store: Storage, study: str | None, *, is_quick: bool) -> None:
    """Run every check and print their names; say how far it is where that takes long."""
    last = time.monotonic()

    def tell(done: int, total: int) -> None:
        nonlocal last
        if time.monotonic() - last > SECONDS_BETWEEN_LINES:
            last = time.monotonic()
            announce(f"compared {decimal(done)} of {decimal(total)} with their digests")

    for result in verify(store, study, is_quick=is_quick, tell=tell):
        console.print(f"pass  {result.name}")


def repair_warehouse(console: Console, store: Storage, study: str | None) -> None:
    """Give up what is damaged, and print what that is."""
    check_version(store)
    done = repair(store, study)
    for of_study in done:
        for key in of_study.receipts:
            say(console, f"study {of_study.study}: {key} is put aside")
        for name in of_study.commits:
            say(console, f"study {of_study.study}: {name} is withdrawn")
    again = f"the next run of {', '.join(one.study for one in done)} computes it again"
    say(console, again if done else "nothing is damaged")


def asked_to_keep(texts: Sequence[str]) -> Keep:
    """Read what ``--keep`` says, which may be given for runs and for days.

    Raises BadInput when a text is neither, or one of them is given twice.

    >>> asked_to_keep(["30", "90d"])
    Keep(run_count=30, age=datetime.timedelta(days=90))
    """
    numbers: dict[str, int] = {}
    for text in texts:
        match = KEEP.fullmatch(text)
        if match is None:
            raise BadInput(
                f"--keep {text!r}; expected a number of runs of each study, as in --keep 30, or of "
                "days, as in --keep 90d, from 1 up"
            )
        number, unit = match.groups()
        if unit in numbers:
            of = "days" if unit else "runs"
            raise BadInput(f"--keep is given twice for {of}; expected one number of runs and days")
        if unit:
            _check_days("--keep", int(number))
        numbers[unit] = int(number)
    age = timedelta(days=numbers["d"]) if "d" in numbers else None
    return Keep(numbers.get(""), age)


def withdraw_runs(
    console: Console, store: Storage, keep: Keep, study: str | None, *, is_real: bool
) -> None:
    """Print which runs go, with units and bytes; withdraw them when it ``is_real``."""
    check_version(store)
    find = withdraw if is_real else find_withdrawals
    withdrawals = find(store, keep, study)
    for withdrawal in withdrawals:
        count = f"{len(withdrawal.runs)} of {withdrawal.run_count} runs"
        console.print(f"study {withdrawal.study}: {count}")
        for run in withdrawal.runs:
            console.print(
                f"  {run.run_id[:12]}  {run.started_at:%Y-%m-%d %H:%M}  {run.unit_count:>6,} "
                f"units  {run.byte_count:>12,}"
            )
    count = sum(len(withdrawal.runs) for withdrawal in withdrawals)
    units = sum(withdrawal.unit_count for withdrawal in withdrawals)
    total = sum(withdrawal.byte_count for withdrawal in withdrawals)
    did = "are withdrawn" if is_real else "can be withdrawn: --delete"
    text = f"{count} runs ({units:,} units, {total / 1e6:.2f} MB) {did}"
    console.print(text if count else "no run to withdraw")


def collect_garbage(
    console: Console, store: Storage, older_than: float, study: str | None, *, is_real: bool
) -> None:
    """Print what can be deleted after a grace period in days; delete it when it ``is_real``."""
    _check_days("--older-than", older_than)
    check_version(store)
    find = delete_garbage if is_real else find_garbage
    files = find(store, timedelta(days=older_than), study)
    for garbage in files:
        size = f"{garbage.byte_count:>12,}"
        console.print(f"{size}  {garbage.path}: {garbage.reason}")
    held = held_studies(store)
    left_out = f"; {', '.join(held)} is being audited and left out" if held else ""
    total = sum(garbage.byte_count for garbage in files)
    did = "deleted" if is_real else "can be deleted: decaf gc --delete"
    text = f"{len(files)} files ({total / 1e6:.2f} MB) {did}" if files else "nothing to delete"
    console.print(f"{text}{left_out}")


def _check_days(option: str, days: float) -> None:
    if not days <= MOST_DAYS:
        raise BadInput(f"{option} {days:g}; expected days, {MOST_DAYS} at most")


def _extent(extent: Extent) -> str:
    return f"{extent.file_count} files ({extent.byte_count / 1e6:.2f} MB)"
