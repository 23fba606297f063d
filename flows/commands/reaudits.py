"""What ``decaf reaudit`` and ``decaf history`` do and print."""

import json
from collections import Counter
from collections.abc import Collection
from itertools import groupby
from typing import Any

from rich.console import Console
from rich.text import Text

from decaf.data.pairs import PairSet
from decaf.errors import BadInput, ConfigError, GatesFailed, RegistryError, UnknownName
from decaf.foundation.yaml_source import Overrides, Source
from decaf.plan.resolution import listed
from decaf.plan.study import Study, load_study
from decaf.registry.entries import Entry
from decaf.registry.gates import check_places
from flows.commands.display import quarantined, table_of
from flows.commands.terminal import say
from tasks.hold import hold_warehouse
from tasks.plan import plan_audit
from tasks.progress import announce
from tasks.reaudit.plan import FAILED, discover, is_unchanged, newest
from warehouse import storage
from warehouse.commits.writer import open_root
from warehouse.query.damage import connect_whole
from warehouse.storage import Root

HISTORY = """
WITH asked AS (
    FROM core_entry_versions
    WHERE change <> 'none' AND ($study IS NULL OR study = $study)
        AND ($model IS NULL OR $model IN (entry, name))
)
SELECT study, entry, pair_type, path, resolved_at::DATE, version, change,
    max(value) FILTER (metric = 'evidence'),
    max([lower_limit, upper_limit]) FILTER (metric = 'evidence'),
    max(value) FILTER (metric = 'contradiction'),
    max([lower_limit, upper_limit]) FILTER (metric = 'contradiction'),
    max(value) FILTER (metric = 'fragility'),
    max([lower_limit, upper_limit]) FILTER (metric = 'fragility')
FROM history_of('asked')
WHERE pair_type IS NOT NULL
GROUP BY study, entry, pair_type, path, resolved_at, version, change
ORDER BY study, entry, pair_type, path, resolved_at
"""


def refuse_registry(study: Study, command: str) -> None:
    """Refuse a study whose models are in a registry.

    Raises ConfigError when it has one.
    """
    if study.registry is not None:
        raise ConfigError(
            f"study {study.study} takes its models from a 'registry:', which decaf {command} does "
            "not ask; expected decaf reaudit CONFIG, with --plan to see what it would do"
        )


def reaudit(
    console: Console,
    config: Source,
    *,
    is_plan: bool,
    is_json: bool,
    overrides: Overrides = (),
    only: Collection[str] = (),
) -> None:
    """Re-audit a registry, or the entries of it that ``only`` names, or say what would be done.

    Raises ConfigError when the study has no registry, a gate is on what its pairs do not have, or a
    secret of its alerts is not there; RegistryError, which the alerts say, too, when the registry
    cannot be asked; GatesFailed when a gate failed, or an entry could not be audited.
    """
    study = load_study(config, overrides)
    if study.registry is None:
        raise ConfigError(
            f"study {study.study} has no 'registry:'; expected one, or use decaf run CONFIG"
        )
    pairs = study.pair_set()
    check_places(
        study.gates,
        pair_type={pair.pair_type for pair in pairs.pairs},
        path=set(study.paths),
        variant={image.variant for image in pairs.inputs},
    )
    if is_plan:
        _print_plan(console, study, pairs, only)
        return
    if study.alerts.webhook is not None:
        _ = study.alerts.webhook.secret  # missed now, not after hours of scoring
    root = open_root(study.warehouse)
    entries = _listed(study)
    if not is_unchanged(study, root, entries, pairs, only):
        _audit(console, study, pairs, config, only, is_json=is_json)
    elif is_json:
        say(console, json.dumps({"study": study.study, "changed": False}, indent=1))
    else:
        say(
            console,
            f"nothing changed: {len(entries)} entries of the registry are those of re-audit "
            f"{newest(root, study.study).reaudit_id[:12]}; no model was opened",
        )


def _audit(
    console: Console,
    study: Study,
    pairs: PairSet,
    config: Source,
    only: Collection[str],
    *,
    is_json: bool,
) -> None:
    from flows.launch import launch

    for remark in pairs.remarks:
        announce(remark)
    announce(f"re-auditing {study.study}; the same command resumes it whenever it is stopped")
    with hold_warehouse(study) as root:
        summary = launch("reaudit", config, study, pairs, root, only)
    if is_json:
        say(console, json.dumps(summary, indent=1))
    else:
        _print_summary(console, study, summary)
    _raise_on_failure(summary)


def history(console: Console, root: Root, model: str | None, study: str | None) -> None:
    """E, C and F of models of registries over their versions, oldest first.

    Raises UnknownName when no registry of the warehouse has such a model.
    """
    with connect_whole(root, study) as connection:
        rows = connection.sql(HISTORY, params={"study": study, "model": model}).fetchall()
        known = connection.sql(
            "SELECT DISTINCT name FROM stg_registry_entries WHERE $study IS NULL OR study = $study",
            params={"study": study},
        ).fetchall()
    if not known:
        raise BadInput(f"no registry was audited into {root} yet; decaf reaudit CONFIG does it")
    if not rows:
        raise UnknownName.among("model of a registry", model or "", (name for (name,) in known))
    for (own, entry), of_entry in groupby(rows, lambda row: row[:2]):
        names = ("date", "version", "change", "E", "C", "F")
        table = table_of(f"{own}: {entry}, means with 95% intervals", names, 3)
        for (pair_type, path), points in groupby(of_entry, lambda row: row[2:4]):
            table.add_section()
            table.add_row(Text(f"{pair_type}, {path}", style="bold"))
            for _, _, _, _, day, version, change, *values in points:
                cells = (_value(*values[at : at + 2]) for at in (0, 2, 4))
                table.add_row(str(day), Text(version), change, *cells)
        console.print(table)


def _listed(study: Study) -> list[Entry]:
    try:
        return listed(study.registry)
    except RegistryError as error:
        from tasks.reaudit.notify import notify_unreachable

        notify_unreachable(study, str(error))
        raise


def _print_plan(console: Console, study: Study, pairs: PairSet, only: Collection[str]) -> None:
    """What changed in the registry, and how many units of work of each model would be computed."""
    diff = discover(study, storage.resolved(study.warehouse), pairs, only)
    pending = plan_audit(diff.audited, pairs).pending if diff.audited.models else []
    counts, changes = Counter(unit.model_id for unit in pending), diff.changes()
    names = ("entry", "version", "change", "units to compute")
    table = table_of(f"{study.study}: what a re-audit would do", names, 3)
    for resolved in diff.resolved:
        entry = resolved.entry
        count = "" if resolved.card is None else str(counts[resolved.model_id])
        table.add_row(Text(entry.label), Text(entry.version), Text(changes[entry.label]), count)
    for row in diff.gone():
        table.add_row(Text(row["entry"]), Text(row["version"]), "gone", "")
    console.print(table)
    for resolved in diff.resolved:
        if resolved.problem:
            say(console, f"{resolved.entry.label}: {resolved.problem}")


def _print_summary(console: Console, study: Study, summary: dict[str, Any]) -> None:
    names = ("entry", "version", "before", "change", "verdict")
    table = table_of(f"{study.study}, re-audit {summary['reaudit_id'][:12]}", names, 5)
    for entry in summary["entries"]:
        verdict = entry["verdict"] or ("" if entry["state"] == "audited" else entry["state"])
        before = entry["version_before"] or ""
        cells = (entry["entry"], entry["version"], before, entry["change"], verdict)
        table.add_row(*(Text(cell) for cell in cells))
    console.print(table)
    quarantined(console, study.warehouse, study.study)
    if summary["drift"]:
        names = ("entry", "of", "column", "before", "now", "change", "95% interval")
        table = table_of("Drift, 5% of it expected to be none", names, 3)
        for row in summary["drift"]:
            numbers = (f"{row[name]:.4f}" for name in ("value_before", "value"))
            interval = f"[{row['change_lower']:+.4f}, {row['change_upper']:+.4f}]"
            place = (Text(row["entry"]), Text(_place(row)), row["metric"])
            table.add_row(*place, *numbers, f"{row['change']:+.4f}", Text(interval))
        console.print(table)
    if study.report_file.exists():
        say(console, f"Report: {study.report_file}")


def _raise_on_failure(summary: dict[str, Any]) -> None:
    lines = []
    for alert in summary["alerts"]:
        if alert["kind"] == "gate.failed":
            lines += [
                f"{alert['entry']} {alert['version']}: {_finding(row)}" for row in alert["rows"]
            ]
    lines += [
        f"{entry['entry']} {entry['version']}: {entry['problem']}"
        for entry in summary["entries"]
        if entry["state"] == FAILED
    ]
    if lines:
        raise GatesFailed(
            f"the re-audit is done; {len(lines)} of its findings need attention:\n  "
            + "\n  ".join(lines)
        )


def _finding(row: dict[str, Any]) -> str:
    return (
        f"{row['metric']} on {_place(row)}: found {row['found']:+.4f} "
        f"[{row['lower_limit']:+.4f}, {row['upper_limit']:+.4f}], "
        f"{row['rule'].replace('_', ' ')} {row['gate_limit']:g} is allowed"
    )


def _place(row: dict[str, Any]) -> str:
    return row["variant"] or f"{row['pair_type']}, {row['path']}"


def _value(value: float | None, limits: list[float] | None) -> Text:
    if value is None:
        return Text("")
    if limits is None or None in limits:
        return Text(f"{value:.4f}")
    return Text(f"{value:.4f} [{limits[0]:.4f}, {limits[1]:.4f}]")
