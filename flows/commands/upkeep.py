"""Commands that maintain a warehouse; they change no results."""

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
from warehouse.commits.version import check_version
from warehouse.storage import Storage
from warehouse.upkeep.compaction import Extent, compact
from warehouse.upkeep.garbage import delete_garbage, find_garbage
from warehouse.upkeep.repair import repair
from warehouse.upkeep.retention import Keep, find_withdrawals, withdraw

MOST_DAYS = 36_500
KEEP = re.compile(r"([1-9]\d{0,5})(d?)")


def compact_studies(console: Console, store: Storage, study: str | None) -> None:
    """Compact one study, or all of a warehouse; print files and bytes before and after."""
    check_version(store)
    for name in [study] if study else receipts.studies(store):
        done = compact(store, name)
        change = f"{_extent(done.before)} before, {_extent(done.after)} now"
        text = "nothing to compact" if done.before == done.after else change
        console.print(f"study {name}: {text}")


def check(console: Console, store: Storage, study: str | None, *, is_quick: bool) -> None:
    """Run every check and print its name; report progress every five seconds."""
    last = time.monotonic()

    def tell(done: int, total: int) -> None:
        nonlocal last
        if time.monotonic() - last > SECONDS_BETWEEN_LINES:
            last = time.monotonic()
            announce(f"compared {decimal(done)} of {decimal(total)} with their digests")

    for result in verify(store, study, is_quick=is_quick, tell=tell):
        console.print(f"pass  {result.name}")


def repair_warehouse(console: Console, store: Storage, study: str | None) -> None:
    """Withdraw damaged commits, and print their names."""
    check_version(store)
    repairs = repair(store, study)
    for repaired in repairs:
        for key in repaired.receipts:
            say(console, f"study {repaired.study}: {key} is set aside")
        for name in repaired.commits:
            say(console, f"study {repaired.study}: {name} is withdrawn")
    studies = ", ".join(repaired.study for repaired in repairs)
    say(console, f"the next run of {studies} computes it again" if repairs else "no damage found")


def parse_keep(texts: Sequence[str]) -> Keep:
    """Read the values of ``--keep``: at most a number of runs and a number of days.

    Raises BadInput for a value that is neither, and for two numbers of runs or of days.

    >>> parse_keep(["30", "90d"])
    Keep(run_count=30, age=datetime.timedelta(days=90))
    """
    numbers: dict[str, int] = {}
    for text in texts:
        match = KEEP.fullmatch(text)
        if match is None:
            raise BadInput(
                f"--keep {text!r}; expected a number of runs of each study, as in --keep 30, or of "
                "days, as in --keep 90d, at least 1"
            )
        number, unit = match.groups()
        if unit in numbers:
            of = "days" if unit else "runs"
            raise BadInput(f"--keep has two numbers of {of}; expected one of runs and one of days")
        if unit:
            _check_days("--keep", int(number))
        numbers[unit] = int(number)
    age = timedelta(days=numbers["d"]) if "d" in numbers else None
    return Keep(numbers.get(""), age)


def withdraw_runs(
    console: Console, store: Storage, keep: Keep, study: str | None, *, is_real: bool
) -> None:
    """Print the runs to withdraw, with units and bytes; withdraw them if ``is_real``."""
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
    """Print files that are unused for ``older_than`` days; delete them if ``is_real``."""
    _check_days("--older-than", older_than)
    check_version(store)
    find = delete_garbage if is_real else find_garbage
    files = find(store, timedelta(days=older_than), study)
    for garbage in files:
        size = f"{garbage.byte_count:>12,}"
        console.print(f"{size}  {garbage.path}: {garbage.reason}")
    audited = held_studies(store)
    left_out = f"; left out, since an audit is running: {', '.join(audited)}" if audited else ""
    total = sum(garbage.byte_count for garbage in files)
    did = "deleted" if is_real else "can be deleted: decaf gc --delete"
    text = f"{len(files)} files ({total / 1e6:.2f} MB) {did}" if files else "nothing to delete"
    console.print(f"{text}{left_out}")


def _check_days(option: str, days: float) -> None:
    if not days <= MOST_DAYS:
        raise BadInput(f"{option} {days:g}; expected at most {MOST_DAYS} days")


def _extent(extent: Extent) -> str:
    return f"{extent.file_count} files ({extent.byte_count / 1e6:.2f} MB)"
