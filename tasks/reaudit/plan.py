"""Plan a re-audit: compare a registry with the last re-audit, and record the result."""

from collections.abc import Collection, Mapping
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from typing import Any

import pyarrow as pa

from decaf.data.pairs import PairSet
from decaf.errors import RegistryError
from decaf.foundation.digests import json_sha256, short
from decaf.models.card import ModelCard
from decaf.plan.resolution import Resolved, list_entries, models_of, resolve
from decaf.plan.study import Study
from decaf.registry.entries import PREVIOUS, Entry
from tasks.make_task import software
from tasks.progress import announce
from tasks.reaudit.comparisons import (
    Content,
    has_outdated,
    label_compared,
    read_compared,
    select_audited,
    select_named,
)
from tasks.reaudit.inputs import study_inputs
from tasks.reaudit.recorded import (
    AUDITED,
    BLOCKS,
    COMPARED,
    DECISIVE,
    FAILED,
    GATES,
    GONE,
    NEW,
    NONE,
    REAUDITS,
    RETURNED,
    VERSION,
    LastAudited,
    PassedContent,
    RecordedReaudit,
    Row,
    completes_scoring,
    entry_rows,
    find_passed_contents,
    last_audited,
    list_references,
    list_stopped_early,
    newest_reaudit,
    remark_skipped_versions,
)
from warehouse.commits import receipts
from warehouse.commits.writer import commit, next_moment
from warehouse.storage import Storage
from warehouse.tables.declarations import TABLES

NOTHING_MOVED: Mapping[str, str] = {}


@dataclass(frozen=True)
class RegistryDiff:
    """Entries of a registry at one moment, compared with the last recorded re-audit."""

    study: Study
    store: Storage
    resolved_at: datetime
    resolved: tuple[Resolved, ...]
    inputs: Mapping[str, str]
    previous: RecordedReaudit | None
    last_audited: Mapping[str, LastAudited]
    """Last audit of each entry, by label."""
    passed: Mapping[str, PassedContent]
    """Earlier versions that passed and equal the entry's current files, by label."""
    compared: Mapping[tuple[str, str], Content]
    """Contents that verdicts were reached against, by re-audit and label; see `read_compared`."""
    stopped_early: frozenset[str] = frozenset()
    """Entries that were stopped early and did not pass; they are now scored completely."""
    references: tuple[ModelCard, ...] = ()
    """Versions to compare changed entries with, and to score on as many blocks."""
    held_back: tuple[Row, ...] = ()
    """Recorded rows of changed entries that this re-audit leaves out."""

    @property
    def audited_study(self) -> Study:
        """Study with all models that can be audited, and models that they are compared with."""
        study = models_of(self.study, self.resolved)
        model_ids = {card.id for card in study.models}
        more = (card for card in self.references if card.id not in model_ids)
        return study.model_copy(update={"models": (*study.models, *more)})

    @property
    def is_changed(self) -> bool:
        """True if anything differs from the last recorded re-audit."""
        if self.previous is None or self.previous.inputs != dict(self.inputs):
            return True
        if completes_scoring(self.store, self.study, self.previous):
            return True
        if COMPARED in self.changes().values():
            return True
        rows = [*map(_row, self.resolved), *self.held_back]
        return {row["entry"]: _visible_state(row) for row in rows} != {
            label: _visible_state(row) for label, row in self.previous.rows.items()
        }

    def mark_failed(self, problems: Mapping[str, str]) -> "RegistryDiff":
        """Copy in which the entries of some models failed; ``problems`` has reasons by model."""
        entries = (
            entry.without_model(problems[entry.model_id]) if entry.model_id in problems else entry
            for entry in self.resolved
        )
        references = tuple(card for card in self.references if card.id not in problems)
        return replace(self, resolved=tuple(entries), references=references)

    def changes(self) -> dict[str, str]:
        """Kind of change of each entry since its last audit, by label."""
        return {entry.entry.label: self._change(entry) for entry in self.resolved}

    def list_missing(self) -> list[Row]:
        """Recorded rows of entries that the registry no longer lists."""
        listed_labels = {entry.entry.label for entry in self.resolved}
        listed_labels |= {row["entry"] for row in self.held_back}
        previous_rows = self.previous.rows if self.previous else {}
        return [row for label, row in previous_rows.items() if label not in listed_labels]

    def find_alias(self, name: str, label: str) -> Row | None:
        """Row of the version that `compare_with:` names for an entry ``label`` of a model.

        If that version cannot be audited, it is the last audited version of the alias. None if
        the registry has no such alias, or the study compares with earlier versions.
        """
        alias_label = label_compared(self.study, name, label)
        listed = {row["entry"]: row for row in (*map(_row, self.resolved), *self.held_back)}
        if alias_label not in listed:
            return None
        if listed[alias_label]["state"] == AUDITED:
            return listed[alias_label]
        last = self.last_audited.get(alias_label)
        return last and last.row

    def _has_another_reference(self, entry: Entry, judged_reaudit_id: str) -> bool:
        """True if a verdict was reached against another version than an alias names now."""
        row = self.find_alias(entry.name, entry.label)
        content = row and (row["weights_sha256"], row["preprocessing_sha256"])
        return content != self.compared.get((judged_reaudit_id, entry.label))

    def _change(self, resolved: Resolved) -> str:
        label = resolved.entry.label
        if resolved.card is None:
            recorded = self.previous.rows.get(label) if self.previous else None
            is_recorded = recorded is not None and _visible_state(recorded) == _visible_state(
                _row(resolved)
            )
            return NONE if is_recorded else FAILED
        if label not in self.last_audited:
            return NEW
        if label in self.passed and not self._has_another_reference(
            resolved.entry, self.passed[label].judged_reaudit_id
        ):
            return RETURNED
        before, inputs = self.last_audited[label]
        changes = [
            name
            for name, now, then in (
                ("weights", resolved.weights, before["weights_sha256"]),
                ("preprocessing", resolved.preprocessing, before["preprocessing_sha256"]),
            )
            if now != then
        ]
        changes += [name for name in DECISIVE if inputs.get(name) != self.inputs.get(name)]
        if label in self.stopped_early and not changes:
            changes = [BLOCKS]
        other_change = NONE if before["version"] == resolved.entry.version else VERSION
        if self._has_another_reference(resolved.entry, before["judged_reaudit_id"]):
            other_change = COMPARED
        if inputs.get("gates") != self.inputs["gates"]:
            other_change = GATES
        return ", ".join(changes) or other_change


def is_unchanged(
    study: Study, store: Storage, entries: list[Entry], pairs: PairSet, only: Collection[str] = ()
) -> bool:
    """True if the registry and the study equal the last recorded re-audit, which is settled.

    ``only`` restricts the comparison to some entries. Compares versions and digests of the listing,
    so nothing is downloaded or opened. A failed entry counts as changed: each re-audit retries it.
    """
    previous = newest_reaudit(store, study.study)
    if previous is None or not previous.is_settled:
        return False
    selected = select_audited(study, select_named(entries, previous.rows, only))
    rows = [row for row in previous.rows.values() if row["entry"] in selected]
    recorded = {row["entry"]: (row["version"], row["digest"]) for row in rows}
    listed = [entry for entry in entries if entry.label in selected]
    return (
        recorded == {entry.label: (entry.version, entry.digest) for entry in listed}
        and all(row["state"] == AUDITED for row in rows)
        and previous.inputs == study_inputs(study, pairs)
        and not completes_scoring(store, study, previous)
        and not has_outdated(store, study, rows)
    )


def discover(
    study: Study, store: Storage, pairs: PairSet, only: Collection[str] = ()
) -> RegistryDiff:
    """Read the registry and fetch every new entry; writes nothing to the warehouse.

    ``only`` names entries, as ``name``, ``name@alias`` or ``name@version``. Then other changed
    entries are held back: they keep their last row until the next re-audit. Unchanged entries, and
    aliases that gates compare the named entries with, are audited as usual. If the study itself has
    changed, all entries are audited. Raises RegistryError if the registry cannot be reached or its
    listing is invalid, and UnknownEntry if none of the names is listed or recorded.
    """
    resolved_at = next_moment(store, REAUDITS, study.study)
    previous = newest_reaudit(store, study.study)
    entries, held_back = list_entries(study.registry, only), ()
    recorded = previous.rows if previous else {}
    selected = select_audited(study, select_named(entries, recorded, only))
    if only and previous is not None and previous.inputs == study_inputs(study, pairs):
        entries, held_back = _restrict(entries, recorded, selected)
    elif only:
        announce("the study is new or has changed, so all entries are audited")
    resolved = tuple(resolve(study, entries))
    inputs, before = study_inputs(study, pairs), last_audited(store, study.study, previous)
    for remark in remark_skipped_versions(store, study.study, entries, before):
        announce(remark)
    contents = {
        each.entry.label: (each.weights, each.preprocessing)
        for each in resolved
        if each.card and each.entry.label in before
    }
    for label, (row, _) in before.items():
        if contents.get(label) == (row["weights_sha256"], row["preprocessing_sha256"]):
            del contents[label]
    return RegistryDiff(
        study=study,
        store=store,
        resolved_at=resolved_at,
        resolved=resolved,
        inputs=inputs,
        previous=previous,
        last_audited=before,
        passed=find_passed_contents(store, study.study, contents, inputs),
        compared=read_compared(store, study) if previous else {},
        stopped_early=list_stopped_early(store, study.study)
        if completes_scoring(store, study, previous)
        else frozenset(),
        held_back=held_back,
    )


def _restrict(
    entries: list[Entry], rows: Mapping[str, Row], selected: Collection[str]
) -> tuple[list[Entry], tuple[Row, ...]]:
    """Split entries into selected or unchanged ones, and held-back rows of the others."""

    def is_recorded(entry: Entry) -> bool:
        row = rows.get(entry.label, {})
        return (row.get("version"), row.get("digest")) == (entry.version, entry.digest)

    audited = [entry for entry in entries if entry.label in selected or is_recorded(entry)]
    covered = {entry.label for entry in audited}.union(selected)
    return audited, tuple(row for label, row in rows.items() if label not in covered)


def commit_reaudit(diff: RegistryDiff, run_id: str | None) -> str:
    """Record the entries of the registry and their states; returns the id of the re-audit."""
    key, rows = reaudit_rows(diff, run_id, _find_moved(diff))
    table = pa.Table.from_pylist(rows, schema=TABLES["registry_entries"].schema)
    commit(
        diff.store,
        REAUDITS,
        diff.study.study,
        key,
        {"registry_entries": table},
        inputs=dict(diff.inputs),
        software=software(),
        at=max(diff.resolved_at, datetime.now(UTC)),
    )
    return key


def reaudit_rows(
    diff: RegistryDiff, run_id: str | None, moved: Mapping[str, str] = NOTHING_MOVED
) -> tuple[str, list[Row]]:
    """Id and rows of a re-audit; ``moved`` has problems of entries that changed meanwhile."""
    study, changes = diff.study.study, diff.changes()
    rows = []
    for resolved in diff.resolved:
        label = resolved.entry.label
        problem = resolved.problem or moved.get(label)
        rows.append(_row(resolved) | {"change": changes[label], "problem": problem})
    held_back = [row | {"change": NONE} for row in diff.held_back]
    gone = {"state": GONE, "change": GONE, "problem": None, "model_id": None}
    references = list_references(diff.store, study, diff.last_audited)
    rows += [row | gone for row in diff.list_missing()]
    states = [
        [row["entry"], row["version"], row["digest"], row["state"]] for row in (*rows, *held_back)
    ]
    key = short(json_sha256([study, diff.resolved_at.isoformat(), run_id, states]))
    stamp = {"run_id": run_id, "resolved_at": diff.resolved_at, "reaudit_id": key}

    def complete(row: Row) -> Row:
        compared = _find_compared(row, diff, references, key)
        return row | _link_reaudits(row, diff, key, references) | compared | stamp

    # Entries that are held back keep the results of their own run.
    held_rows = (complete(row) | {"run_id": row["run_id"]} for row in held_back)
    return key, [*map(complete, rows), *held_rows]


def _link_reaudits(row: Row, diff: RegistryDiff, key: str, references: set[str]) -> Row:
    """Ids of re-audits for a row: the one that judges the content, and the earlier ones."""
    names = ("previous_reaudit_id", "passed_reaudit_id")
    if row["entry"] not in diff.last_audited:
        return {"judged_reaudit_id": key, **dict.fromkeys(names)}
    before = diff.last_audited[row["entry"]].row
    if row["change"] in (GATES, COMPARED):  # the earlier comparison stays
        judging = receipts.read_one(
            diff.store, REAUDITS, diff.study.study, before["judged_reaudit_id"]
        )
        rows = {judged["entry"]: judged for judged in entry_rows(diff.store, judging)}
        return {"judged_reaudit_id": key, **{name: rows[row["entry"]][name] for name in names}}
    is_same = row["state"] != AUDITED or row["change"] in (NONE, VERSION)
    passed = before["reaudit_id" if row["entry"] in references else "passed_reaudit_id"]
    judged = before["judged_reaudit_id"] if is_same else key
    if row["change"] == RETURNED:
        judged = diff.passed[row["entry"]].judged_reaudit_id
    return {
        "judged_reaudit_id": judged,
        **dict(zip(names, (before["reaudit_id"], passed), strict=True)),
    }


def _find_compared(row: Row, diff: RegistryDiff, references: set[str], key: str) -> Row:
    """Entry of another name with which gates compare a row, and its re-audit.

    It is the alias of `compare_with:`, in this re-audit (``key``) if that audits it. For a version
    that only `--entry` names and whose model has no such alias, it is an entry of the same model,
    with the last version that passed.
    """
    last, compared_label, reaudit_id = diff.last_audited, "", None
    if alias_row := diff.find_alias(row["name"], row["entry"]):
        compared_label, reaudit_id = alias_row["entry"], alias_row.get("reaudit_id", key)
    if reaudit_id is None and not row["is_followed"]:
        compared_label = min(
            (label for label in last if last[label].row["name"] == row["name"]), default=""
        )
        if compared_label:
            is_last = compared_label in references or diff.study.compare_with == PREVIOUS
            reaudit_id = last[compared_label].row["reaudit_id" if is_last else "passed_reaudit_id"]
    return {
        "compared_entry": compared_label if reaudit_id else None,
        "compared_reaudit_id": reaudit_id,
    }


def _find_moved(diff: RegistryDiff) -> dict[str, str]:
    """Problems of entries that changed during the re-audit; the next re-audit audits the change.

    Warns if the registry cannot be read any more: the results are recorded all the same.
    """
    try:
        now = {entry.label: entry for entry in list_entries(diff.study.registry)}
    except RegistryError as error:
        announce(f"warning: versions that moved during the re-audit are unknown: {error}")
        return {}
    return {
        entry.label: f"moved to version {now[entry.label].version} while version "
        f"{entry.version} was being audited; the next re-audit audits it"
        for entry in (resolved.entry for resolved in diff.resolved)
        if entry.label in now and now[entry.label].digest != entry.digest
    }


def _row(resolved: Resolved) -> Row:
    entry = resolved.entry
    return {
        "entry": entry.label,
        "name": entry.name,
        "version": entry.version,
        "alias": entry.alias,
        "is_followed": entry.is_followed,
        "digest": entry.digest,
        "state": FAILED if resolved.card is None else AUDITED,
        "model_id": resolved.model_id,
        "weights_sha256": resolved.weights,
        "preprocessing_sha256": resolved.preprocessing,
        "problem": resolved.problem,
    }


def _visible_state(row: Row) -> tuple[Any, ...]:
    """Fields of a row that differ if the entry changed."""
    problem = row["problem"] if row["state"] == FAILED else None
    return (row["state"], row["version"], row["digest"], row["model_id"], problem)
