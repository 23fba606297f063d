"""Commands ``decaf reaudit`` and ``decaf card``."""

import json
from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import yaml
from rich.console import Console
from rich.text import Text

from decaf.data.pairs import PairSet
from decaf.errors import BadInput, ChecksFailed, ConfigError, RegistryError, UnknownName, number_of
from decaf.foundation.names import printable, quote
from decaf.foundation.yaml_source import Overrides, Source
from decaf.plan.expectations import kinds_of
from decaf.plan.resolution import list_entries
from decaf.plan.study import Study, load_study
from decaf.registry.alerts import faults
from decaf.registry.entries import LATEST, CardRegistry, Entry, Registry
from decaf.registry.gates import check_places, on_pair_types
from decaf.registry.messages import describe_standing, explain_unchanged_content
from decaf.registry.proposals import proposal_of
from flows.commands.display import print_estimate, table_of
from flows.commands.options import open_warehouse, warn_of_other_warehouse
from flows.commands.reaudit_outcome import find_outcome
from flows.commands.reaudit_summary import list_remarks, print_summary
from flows.commands.sizes import say_sizes
from flows.commands.terminal import say
from tasks.hold import hold_study
from tasks.inputs import check_masks
from tasks.plan import plan_audit, settle_blocks
from tasks.progress import announce, announce_while_running
from tasks.reaudit import standing as verdicts
from tasks.reaudit.comparisons import select_named
from tasks.reaudit.events import emit_failure, has_events
from tasks.reaudit.plan import RegistryDiff, discover, is_unchanged
from tasks.reaudit.recorded import RETURNED, newest_reaudit
from tasks.reaudit.write_back import write_answers
from tasks.row_counts import count_rows
from tasks.sizes import fill_cluster
from warehouse.commits.writer import open_root
from warehouse.storage import Storage


def refuse_registry(study: Study, command: str) -> None:
    """Raise ConfigError for a study whose models are in a registry."""
    if study.registry is not None:
        raise ConfigError(
            f"study {study.study} takes its models from a 'registry:', which decaf {command} does "
            "not read; use decaf reaudit CONFIG, with --plan to see its plan"
        )


def card(console: Console, config: Path, label: str) -> None:
    """Print the proposed card of an entry, as YAML for ``registry:``.

    For a pickle, the YAML also has ``trust:`` with all trusted names. ``label`` may also name an
    alias or a version that the study does not follow.

    Raises ConfigError if the study has no registry with cards, UnknownName for an unknown entry,
    and ModelError if the files of the entry do not determine a card.
    """
    study = load_study(config)
    if not isinstance(study.registry, CardRegistry):
        raise ConfigError(f"{config} has no registry whose entries have cards; expected one")
    name, _, alias = label.rpartition("@")
    follow = dict.fromkeys((*study.registry.follow, *([alias] if name else [])))
    registry = study.registry.model_copy(update={"follow": tuple(follow)})
    every = list_entries(registry, [label])
    entries = {entry.name: entry for entry in every} | {entry.label: entry for entry in every}
    if label not in entries:
        raise UnknownName.among("entry of the registry", label, entries)
    entry = entries[label]
    if entry.problem:
        raise RegistryError(f"{label}: {entry.problem}")
    proposal = proposal_of(registry.describe_entry(entry, study.workspace))
    say(console, f"# {label}, version {entry.version}; under 'registry:' of {config}")
    for remark in proposal.remarks:
        say(console, f"# {printable(remark)}")
    keys: dict[str, Any] = {"cards": {entry.name: proposal.card}}
    if proposal.needs_trust and entry.name not in registry.trust:
        keys = {"trust": [*registry.trust, entry.name], **keys}
    say(console, yaml.safe_dump(keys, sort_keys=False).rstrip())


def reaudit(
    console: Console,
    config: Source,
    *,
    is_plan: bool,
    is_json: bool,
    should_score_all: bool = False,
    overrides: Overrides = (),
    only: Collection[str] = (),
) -> None:
    """Re-audit a registry, or the entries in ``only``; with ``is_plan``, print the plan instead.

    If ``should_score_all``, all pairs are scored in spite of the study's ``stop``.

    Raises BadInput for a plan as JSON; ConfigError if the study has no registry, a gate names
    something that its pairs lack, or a secret of its alerts is not set; RegistryError, also sent as
    an alert, if the registry cannot be read; UnknownEntry if no name in ``only`` has an entry;
    GatesFailed if a failed verdict stands, or an entry could not be audited; GatesUndecided if no
    verdict failed, and some verdict is undecided or a new version is still being copied;
    AlertFailed if a receiver of alerts failed, after the summary is printed; ChecksFailed if a plan
    finds that entries cannot be audited, or alerts cannot be delivered.
    """
    if is_plan and is_json:
        raise BadInput("found --plan and --json; expected one of them: a plan is not JSON")
    study = load_study(config, overrides)
    if study.registry is None:
        raise ConfigError(
            f"study {study.study} has no 'registry:'; expected one, or use decaf run CONFIG"
        )
    warn_of_other_warehouse(study)
    if should_score_all:
        study = study.to_the_end()
    with announce_while_running("reading the pairs"):
        pairs = study.pair_set()
    check_places(
        on_pair_types(study.gates, kinds_of(study.expect)),
        has_labels=pairs.has_labels,
        pair_type={*pairs.pairs.pair_types.values},
        path=set(study.paths),
        variant={*pairs.inputs.variants.values},
    )
    if is_plan:
        _print_plan(console, study, pairs, config, only)
        return
    for webhook in study.alerts.webhook:
        _ = webhook.secret  # raises now, not after hours of scoring
    store = open_root(study.warehouse)
    entries, unfinished = _list_entries(study, _name_of(config), only)
    labels = _find_labels(store, study, entries, only)
    standing_verdicts = None
    if is_unchanged(study, store, entries, pairs, only):
        standing_verdicts = verdicts.select_followed(verdicts.list_standing(store, study.study))
    if standing_verdicts is None or _must_tell(study, standing_verdicts):
        _audit(console, study, pairs, config, only, labels, unfinished, is_json=is_json)
        return
    write_answers(store, study)
    unchanged = {"study": study.study, "changed": False, "entries": [], "undelivered": []}
    unchanged |= {"standing": standing_verdicts, "undecided": verdicts.list_undecided(store, study)}
    outcome = find_outcome(study, unchanged, _name_of(config), only, labels, unfinished)
    if is_json:
        say(console, json.dumps(unchanged | outcome.fields, indent=1))
    else:
        say(
            console,
            "nothing changed: the registry has the "
            f"{number_of(len(entries), 'entry', 'entries')} of re-audit "
            f"{newest_reaudit(store, study.study).reaudit_id[:12]}; no model was opened",
        )
    outcome.end()


def _name_of(config: Source) -> str:
    """Path of the study's file, for messages; ``CONFIG`` if only its content is known."""
    return str(config) if isinstance(config, Path) else "CONFIG"


def _must_tell(study: Study, standing_verdicts: list[dict[str, Any]]) -> bool:
    due = verdicts.list_due_alerts(standing_verdicts, study.alerts, datetime.now(UTC))
    return bool(due) and (study.alerts.has_receivers or has_events(study))


def _audit(
    console: Console,
    study: Study,
    pairs: PairSet,
    config: Source,
    only: Collection[str],
    labels: Collection[str],
    unfinished: Sequence[str],
    *,
    is_json: bool,
) -> None:
    from flows.launch import launch
    from tasks.cluster import fork_server

    study, _ = fill_cluster(study, pairs)
    fork_server.begin(study.cluster)
    for remark in pairs.remarks:
        announce(remark)
    announce(f"re-auditing {study.study}; the same command resumes it whenever it is stopped")

    def conclude(summary: dict[str, Any]) -> None:
        outcome = find_outcome(study, summary, _name_of(config), only, labels, unfinished)
        if is_json:
            remarks = [*list_remarks(store, study, summary["entries"]), *outcome.remarks]
            fields = summary | outcome.fields | {"remarks": remarks}
            say(console, json.dumps(fields, indent=1))
        else:
            print_summary(console, store, study, summary)
        outcome.end()

    with hold_study(study) as store:
        from flows.reaudit import reaudit

        launch(reaudit, config, study, pairs, store, _name_of(config), only, conclude=conclude)


def _list_entries(study: Study, name: str, only: Collection[str]) -> tuple[list[Entry], list[str]]:
    try:
        return _list_with_remarks(study.registry, only)
    except RegistryError as error:
        from tasks.reaudit.notify import notify_unreachable

        emit_failure(study, error)
        notify_unreachable(study, name, str(error))
        raise


def _find_labels(
    store: Storage, study: Study, entries: Sequence[Entry], only: Collection[str]
) -> Collection[str]:
    """Labels of the entries that ``only`` names, empty if it is; warn of names without an entry.

    Raises UnknownEntry if none of the names has an entry.
    """
    if not only:
        return ()
    previous = newest_reaudit(store, study.study)
    named = select_named(entries, previous.rows if previous else {}, only)
    for name in sorted({*only} - {*named, *named.values()}):
        announce(f"warning: the registry has no entry {name!r}; the others are audited")
    return named.keys()


def _list_with_remarks(
    registry: Registry, only: Collection[str] = ()
) -> tuple[list[Entry], list[str]]:
    """List entries, and remarks on versions that are still being copied; announce all remarks."""
    copied = registry.list_unfinished()  # first: meanwhile, they may become entries, but not vanish
    unfinished = [remark for name, remark in copied if not only or name in only]
    entries = list_entries(registry, only)
    known_aliases = {LATEST, *(entry.alias for entry in entries)}
    for alias in getattr(registry, "follow", ()):
        if alias not in known_aliases:
            announce(f"warning: no model has the alias {quote(alias)} that 'follow:' names")
    on_names = registry.remarks(entries) if isinstance(registry, CardRegistry) else ()
    for remark in (*unfinished, *on_names):
        announce(f"warning: {remark}")
    return entries, unfinished


def _print_plan(
    console: Console, study: Study, pairs: PairSet, config: Source, only: Collection[str]
) -> None:
    """Print remarks on data, the changes of a registry, their work, and open failures.

    Receivers of alerts are tried first, so that faults are also named if the registry fails. Raises
    ChecksFailed, naming all, if entries cannot be audited or alerts cannot be delivered.
    """
    alert_faults = [*dict.fromkeys(faults(study.alerts))]
    for fault in alert_faults:
        announce(f"warning: {fault}")
    entries, _ = _list_with_remarks(study.registry, only)
    store = open_warehouse(study.warehouse)
    _find_labels(store, study, entries, only)
    diff = discover(study, store, pairs, only)
    planned, remarks = None, pairs.remarks
    if diff.audited_study.models:
        planned = plan_audit(diff.audited_study, pairs)
        remarks = (*planned.remarks, *check_masks(diff.audited_study, pairs))
    for remark in dict.fromkeys(remarks):
        say(console, remark)
    pending = planned.work.pending if planned else []
    _print_changes(console, diff, Counter(unit.model_id for unit in pending))
    unusable = {}
    if planned and pending:
        from tasks.trial import try_on_cluster

        rows = count_rows(planned.configuration, pairs).planned
        console.print(f"forward rows per model that is scored: {rows}")
        tried = try_on_cluster(planned)
        unusable = tried.errors
        planned = settle_blocks(planned, tried.paces, tried.worker_count)
        print_estimate(console, planned)
        say_sizes(console, planned)
    unusable_entries = []
    for resolved in diff.resolved:
        if problem := resolved.problem or unusable.get(resolved.model_id):
            say(console, f"{resolved.entry.label}: {problem}")
            unusable_entries.append(resolved.entry.label)
    if diff.previous:
        standing_verdicts = verdicts.select_followed(verdicts.list_standing(store, study.study))
        for verdict in verdicts.select_unaccepted(standing_verdicts):
            say(console, describe_standing(verdict, _name_of(config)))
    _refuse_plan(alert_faults, unusable_entries)


def _refuse_plan(alert_faults: Sequence[str], unusable_entries: Sequence[str]) -> None:
    """Raise ChecksFailed, which names all faults of alerts and entries, if there are any."""
    problems = ["\n  ".join(["alerts cannot be delivered:", *alert_faults])] if alert_faults else []
    if unusable_entries:
        count = number_of(len(unusable_entries), "entry", "entries")
        problems.append(f"{count} cannot be audited: {', '.join(unusable_entries)}")
    if problems:
        raise ChecksFailed("\n".join(problems))


def _print_changes(console: Console, diff: RegistryDiff, counts: Mapping[str | None, int]) -> None:
    """Print the changes of a registry, and the number of units to compute for each model."""
    names, changes = ("entry", "version", "change", "units to compute"), diff.changes()
    table = table_of(f"{diff.study.study}: what a re-audit would do", names, 3)
    for resolved in diff.resolved:
        entry = resolved.entry
        count = "" if resolved.card is None else str(counts[resolved.model_id])
        table.add_row(Text(entry.label), Text(entry.version), Text(changes[entry.label]), count)
    for row in diff.list_missing():
        table.add_row(Text(row["entry"]), Text(row["version"]), "gone", "")
    console.print(table)
    for resolved in diff.resolved:
        if changes[resolved.entry.label] == RETURNED:
            passed = diff.passed[resolved.entry.label]
            say(
                console,
                explain_unchanged_content(
                    resolved.entry.label, resolved.entry.version, *passed[1:]
                ),
            )
