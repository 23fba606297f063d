"""Outcome of a re-audit: its remarks, its exit code, and the error that ends the command."""

from collections.abc import Collection, Mapping, Sequence
from typing import Any, NamedTuple

from decaf.errors import AlertFailed, DecafError, GatesFailed, GatesUndecided, number_of
from decaf.plan.study import Study
from decaf.registry.messages import describe_standing, describe_undecided, finding
from tasks.progress import announce
from tasks.reaudit import standing as verdicts
from tasks.reaudit.recorded import FAILED

Row = dict[str, Any]


class Outcome(NamedTuple):
    """Remarks of a re-audit, and the error with which it ends; None if nothing is open."""

    remarks: list[str]
    error: DecafError | None

    @property
    def fields(self) -> dict[str, Any]:
        """Remarks and exit code, for JSON."""
        return {"remarks": self.remarks, "exit_code": self.error.exit_code if self.error else 0}

    def end(self) -> None:
        """Announce the remarks; raise the error, if there is one."""
        for remark in self.remarks:
            announce(remark)
        if self.error:
            raise self.error


def find_outcome(
    study: Study,
    summary: Mapping[str, Any],
    config: str,
    only: Collection[str],
    labels: Collection[str],
    unfinished: Sequence[str],
) -> Outcome:
    """Outcome of a re-audit for the entries in ``only``, all where it is empty.

    ``labels`` are those of the entries in ``only``, which has labels and names of models.
    ``summary`` has entries, standing and undecided verdicts, and failures of receivers, if there
    are any; ``unfinished`` are remarks on versions that were being copied when the re-audit began;
    messages name the study's file ``config``.

    The error is AlertFailed if a receiver failed; else GatesFailed if a failed verdict stands, or
    an entry could not be audited; else GatesUndecided if a verdict is undecided, unless the study
    has `undecided: pass`, or if a failed version has no gates now, or if a version was being
    copied. With AlertFailed, the other error is a remark.
    """
    remarks = [] if study.gates else ["the study has no gates, so nothing was judged"]
    error: DecafError | None = None
    undecided_lines = _list_undecided(study, summary["undecided"], config, only, labels, remarks)
    if lines := _list_failures(study, summary, config, labels, remarks):
        failures = number_of(len(lines), "failure needs", "failures need")
        error = GatesFailed("\n  ".join([f"{failures} attention:", *lines]))
        if undecided_lines:
            remarks.append("\n  ".join([f"{_count_undecided(undecided_lines)}:", *undecided_lines]))
    elif undecided_lines:
        count = _count_undecided(undecided_lines)
        text = "\n  ".join([f"no gate failed, but {count}:", *undecided_lines])
        if study.undecided == "pass" and study.gates:
            remarks.append(f"{text}\nThe exit code is 0, since the study has 'undecided: pass'.")
        else:
            error = GatesUndecided(text)
    if unfinished and error is None:
        lines = ["no gate failed, but new versions were not judged:", *unfinished]
        error = GatesUndecided("\n  ".join(lines))
    if undelivered := summary["undelivered"]:
        remarks += [str(error)] if error else []
        error = AlertFailed("\n  ".join(undelivered))
    return Outcome(remarks, error)


def _list_failures(
    study: Study,
    summary: Mapping[str, Any],
    config: str,
    labels: Collection[str],
    remarks: list[str],
) -> list[str]:
    """List failures that need an answer: standing failures, and entries that failed.

    A failed alias that a named entry should be compared with is a failure of that entry.
    """
    standing = verdicts.select_unaccepted(summary["standing"])
    failed_entries = [entry for entry in summary["entries"] if entry["state"] == FAILED]
    compared = {each["compared_entry"] for each in summary["entries"] if each["entry"] in labels}
    return [
        describe_standing(verdict, config) + _list_gates(study, verdict)
        for verdict in _select_named(standing, labels, remarks)
    ] + [
        f"{entry['entry']} {entry['version']}: {entry['problem']}"
        for entry in _select_named(failed_entries, labels and {*labels, *compared}, remarks)
    ]


def _list_undecided(
    study: Study,
    undecided: Sequence[Row],
    config: str,
    only: Collection[str],
    labels: Collection[str],
    remarks: list[str],
) -> list[str]:
    """List verdicts that neither passed nor failed.

    A version that only others are compared with gets a remark instead, unless ``only`` has its
    label.
    """
    compared = [row for row in undecided if row["is_compared_with"] and row["entry"] not in only]
    remarks += [
        f"{verdict['entry']} {verdict['version']} is the version that 'compare_with: "
        f"{study.compare_with}' names; no gate applies to it, so it is not judged"
        for verdict in compared
    ]
    open_verdicts = [row for row in undecided if row not in compared]
    return [
        describe_undecided(verdict, config) + _list_gates(study, verdict)
        for verdict in _select_named(open_verdicts, labels, remarks)
    ]


def _count_undecided(lines: Sequence[str]) -> str:
    return number_of(len(lines), "verdict is undecided", "verdicts are undecided")


def _list_gates(study: Study, verdict: Row) -> str:
    """Findings of the gates of a verdict, each on a line."""
    return "".join(f"\n    {finding(row, study.names)}" for row in verdict["rows"])


def _select_named(rows: Sequence[Row], labels: Collection[str], remarks: list[str]) -> list[Row]:
    """Select rows of the entries in ``labels``, all if it is empty; other rows get a remark."""
    remarks += [
        f"{row['entry']} did not pass; --entry does not name it, so the exit code leaves it out"
        for row in rows
        if labels and row["entry"] not in labels
    ]
    return [row for row in rows if not labels or row["entry"] in labels]
