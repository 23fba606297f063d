"""Versions that the gates compare with, and limits that no measurement decides."""

from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import NamedTuple

from decaf.errors import UnknownEntry
from decaf.foundation.number_text import limit_text, percent_text, score_text
from decaf.plan.study import Study
from decaf.registry.entries import COMPARISONS, LAST_PASSED, PREVIOUS, Entry
from decaf.registry.gates import IN_SCORE_UNITS, NOT_APPLICABLE, RULES, Judged, Verdict
from decaf.scoring.scores.base import ScoreDefinition
from tasks.reaudit.recorded import AUDITED, COMPARED, GATES, NEW, RecordedReaudit, Row
from warehouse.query.damage import fetch_whole
from warehouse.query.views import query
from warehouse.storage import Storage

Content = tuple[str, str]
"""Digests of the weights and the preprocessing of a version."""


INSIDE = "the limit is inside the interval"
KEY_LENGTH = Judged._fields.index("limit")
"""Number of fields of a verdict that identify its rule and subject; limit and level follow."""


class Comparison(NamedTuple):
    """The version that an entry is judged against, and the past of the entry's content."""

    is_itself: bool
    """True if both versions have the same content."""
    is_known: bool
    """True if the entry was audited with this content before."""
    compared_entry: str | None
    """Entry of the other version; None for an earlier version of the same entry."""
    version: str | None
    """Version to compare with; None if there is none."""
    has_failed: bool | None
    """True if the other version failed and nobody accepted it; None if it is judged now."""
    is_new: bool
    """True if the entry was never audited before."""

    @property
    def needs_another(self) -> bool:
        """True for new content of an audited entry that is compared only with itself."""
        return self.has_failed is None and not (self.is_known or self.is_new)


def against(study: Study) -> str:
    """Earlier version that an entry is compared with, unless an alias is."""
    return PREVIOUS if study.compare_with == PREVIOUS else LAST_PASSED


def label_compared(study: Study, name: str, label: str) -> str | None:
    """Label of the alias that `compare_with:` names, for an entry ``label`` of the model ``name``.

    None if the study compares with earlier versions, and for the entry of the alias itself.
    """
    alias_label = f"{name}@{study.compare_with}"
    return None if study.compare_with in COMPARISONS or alias_label == label else alias_label


def select_named(
    entries: Iterable[Entry], rows: Mapping[str, Row], only: Collection[str]
) -> dict[str, str]:
    """Names of models by label, for the entries that ``only`` names; all if it is empty.

    ``entries`` are listed, ``rows`` recorded by label; ``only`` has labels and names of models: a
    name selects all entries of its model. Raises UnknownEntry if ``only`` names no entry.
    """
    names = {label: row["name"] for label, row in rows.items()}
    names |= {entry.label: entry.name for entry in entries}
    if not only:
        return names
    named = {label: name for label, name in names.items() if label in only or name in only}
    if not named:
        choices = {*names, *names.values()}
        raise UnknownEntry.among("entry of the registry", next(iter(only)), choices)
    return named


def select_audited(study: Study, named: Mapping[str, str]) -> set[str]:
    """Labels of named entries (see `select_named`), and of aliases that gates compare them with."""
    aliases = {label_compared(study, name, label) for label, name in named.items()}
    return {*named, *filter(None, aliases)}


def read_compared(store: Storage, study: Study) -> dict[tuple[str, str], Content]:
    """Content that each entry was compared with, by the id of its re-audit and its label.

    Entries without such a content are left out. Empty if the study compares with earlier versions.
    """
    if study.compare_with in COMPARISONS:
        return {}
    rows = fetch_whole(store, study.study, query("registry/compared"))
    return {
        (reaudit_id, label): (weights, preprocessing)
        for reaudit_id, label, weights, preprocessing in rows
    }


def has_outdated(store: Storage, study: Study, rows: Iterable[Row]) -> bool:
    """True if a verdict on some recorded ``rows`` compared with other content than now.

    Such a verdict is older than the last change of the alias that `compare_with:` names.
    """
    compared = read_compared(store, study)
    return any(
        compared.get((row["judged_reaudit_id"], row["entry"]))
        != compared.get((row["reaudit_id"], row["entry"]))
        for row in rows
        if row["state"] == AUDITED
    )


def settle_changes(store: Storage, study: Study, judged: Sequence[Judged]) -> list[Judged]:
    """Settle verdicts on changes that no comparison can decide.

    A limit on a change does not apply to a version that is compared with itself. Where a limit does
    not apply, an earlier verdict on the same content stands: of the entry, or of the alias that it
    is compared with. Otherwise, the limit is undecided if there is a version to compare with: with
    other pairs or settings, or another content of the entry. A limit that holds is undecided if the
    compared version of an alias failed.
    """
    comparisons = _read_comparisons(store, study)
    alike = {label for label, comparison in comparisons.items() if comparison.is_itself}
    judged = [
        _without_interval(row, NOT_APPLICABLE, "it is compared with itself")
        if RULES[row.rule].is_change and row.verdict != NOT_APPLICABLE and row.entry in alike
        else row
        for row in judged
    ]
    if any(row.verdict == NOT_APPLICABLE for row in judged):
        judged = keep_standing(judged, _read_earlier(store, study, comparisons))
        judged = keep_standing(judged, _list_of_aliases(judged, comparisons))
    failed_entries = {row.entry for row in judged if row.verdict == "fail"}
    failed_entries |= {c.compared_entry for c in comparisons.values() if c.has_failed}
    return [_settle(row, comparisons.get(row.entry), failed_entries) for row in judged]


def keep_standing(judged: Sequence[Judged], earlier: Sequence[Judged]) -> list[Judged]:
    """Replace verdicts of inapplicable gates by earlier ones of the same rule and subject.

    A failure stands at any limit: several gates may have one rule and subject, and each failure
    stands once. Other verdicts stand only at the same limit and level.
    """
    open_rows = [row for row in judged if row.verdict == NOT_APPLICABLE]
    limits = {row[: KEY_LENGTH + 2] for row in open_rows}
    keys = {row[:KEY_LENGTH] for row in open_rows}
    standing = [
        row
        for row in earlier
        if row[: KEY_LENGTH + 2] in limits or (row.verdict == "fail" and row[:KEY_LENGTH] in keys)
    ]
    failed_keys = {row[:KEY_LENGTH] for row in standing if row.verdict == "fail"}
    answered = {row[: KEY_LENGTH + 2] for row in standing}
    return [
        *standing,
        *(
            row
            for row in judged
            if row.verdict != NOT_APPLICABLE
            or (row[:KEY_LENGTH] not in failed_keys and row[: KEY_LENGTH + 2] not in answered)
        ),
    ]


def _read_comparisons(store: Storage, study: Study) -> dict[str, Comparison]:
    sql = query("registry/comparisons")
    rows = fetch_whole(store, study.study, sql, against=against(study))
    return {entry: Comparison(*comparison) for entry, *comparison in rows}


def _read_earlier(
    store: Storage, study: Study, comparisons: Mapping[str, Comparison]
) -> list[Judged]:
    alike = {label: c for label, c in comparisons.items() if c.is_itself}
    unknown = [label for label, c in alike.items() if not c.is_known]
    sql = query("registry/earlier_verdicts")
    rows = fetch_whole(store, study.study, sql, alike=[*alike], unknown=unknown)
    return [Judged(*row) for row in rows]


def _list_of_aliases(
    judged: Sequence[Judged], comparisons: Mapping[str, Comparison]
) -> list[Judged]:
    """Verdicts on aliases, for entries that have their content for the first time."""
    return [
        row._replace(entry=label)
        for label, comparison in comparisons.items()
        if comparison.is_itself and not comparison.is_known
        for row in judged
        if row.entry == comparison.compared_entry
    ]


def _settle(row: Judged, comparison: Comparison | None, failed_entries: set[str | None]) -> Judged:
    """Verdict on a limit on a change, undecided if no comparison decides it."""
    if comparison is None or not RULES[row.rule].is_change:
        return row
    version = f"version {comparison.version} of {comparison.compared_entry}"
    if row.verdict == NOT_APPLICABLE and comparison.is_itself:
        if comparison.needs_another:
            return _without_interval(
                row,
                "undecided",
                f"this content is new and equals {version}, the version to compare with",
            )
    elif row.verdict == NOT_APPLICABLE and comparison.version is not None:
        return row._replace(verdict="undecided")
    elif row.verdict == "pass" and comparison.compared_entry in failed_entries:
        reason = f"{version}, which it is compared with, failed its gates"
        return _without_interval(row, "undecided", reason)
    return row


def doubt_responses(store: Storage, study: Study, judged: list[Judged]) -> list[Judged]:
    """Make limits on a response that hold undecided if no use of the inputs could break them.

    The reasons are those of the query ``registry/doubts``, such as constant scores, or a limit
    that is not below the range of all clean scores.
    """
    pair_types = sorted({row.pair_type for row in judged if row.pair_type})
    if not pair_types:
        return judged
    rows = fetch_whole(store, study.study, query("registry/doubts"), pair_types=pair_types)
    doubts = {(entry, pair_type): doubt for entry, pair_type, *doubt in rows}
    return [
        _without_interval(row, "undecided", reason)
        if row.verdict == "pass"
        and (doubt := doubts.get((row.entry, row.pair_type)))
        and (reason := _explain_doubt(row, study.score, *doubt))
        else row
        for row in judged
    ]


def _explain_doubt(
    row: Judged,
    score: ScoreDefinition,
    remark: str | None,
    score_range: float | None,
    changed_share: float | None,
) -> str | None:
    """Reason why a limit that holds decides nothing.

    ``score_range`` is that of clean scores, and ``changed_share`` the share of pairs whose decision
    changes, for scores that are class probabilities. A limit of a bounded score is not too wide if
    it would hold for scores over all of its bounds.
    """
    if remark or row.rule != "at_most" or row.metric not in IN_SCORE_UNITS:
        return remark
    is_of_all = row.metric in ("abs_response", "endpoint_magnitude")
    if is_of_all and changed_share is not None and row.limit < changed_share:
        return (
            "the decision for or against the scored class changes in "
            f"{percent_text(changed_share)} of the pairs, a larger share than the limit "
            f"{limit_text(row.limit)} of its probability"
        )
    if score_range is None or row.limit < score_range:
        return None
    if score.bounds is not None and row.upper_limit is not None:
        span = score.bounds[1] - score.bounds[0]
        if row.upper_limit * span <= row.limit * score_range:
            return None
    return (
        f"the limit {limit_text(row.limit)} is not below {score_text(score_range)}, the range of "
        "all clean scores, so it decides nothing; lower the limit"
    )


def keep_failures(
    store: Storage, study: Study, recorded: RecordedReaudit, judged: list[Judged]
) -> list[Judged]:
    """Let earlier failures stand that other pairs or settings of the study leave undecided.

    They are those of the last audit of each followed entry with the same content, at the same limit
    and level, unless somebody accepted them. Other gates, or another version of the alias that
    gates compare with, end them.
    """
    ends = (NEW, GATES, COMPARED)
    labels = {label for label, row in recorded.rows.items() if row["change"] not in ends}
    if not any(row.verdict == "undecided" and row.entry in labels for row in judged):
        return judged
    earlier = [row for row in _read_earlier(store, study, {}) if row.verdict == "fail"]
    failures = {row[: KEY_LENGTH + 2]: row for row in earlier if row.entry in labels}
    return [
        failure._replace(reason=f"it failed before, and is undecided now: {row.reason or INSIDE}")
        if row.verdict == "undecided" and (failure := failures.get(row[: KEY_LENGTH + 2]))
        else row
        for row in judged
    ]


def _without_interval(row: Judged, verdict: Verdict, reason: str) -> Judged:
    return row._replace(
        found=None, lower_limit=None, upper_limit=None, verdict=verdict, reason=reason
    )


def leave_undecided(
    study: Study, recorded: RecordedReaudit, judged: Iterable[Judged]
) -> list[Judged]:
    """Make limits on a change that hold undecided if the model lacks the alias to compare with.

    ``recorded`` is the re-audit that judges. Such limits were judged against the last version that
    passed, if any: one that fails against it still fails. None applies to a first version. Limits
    on a value keep their verdicts.
    """
    missing = {
        label: alias_label
        for label, row in recorded.rows.items()
        if row["compared_entry"] is None
        and (alias_label := label_compared(study, row["name"], label))
    }
    first = {label for label, row in recorded.rows.items() if row["change"] == NEW}
    return [
        _without_interval(
            row,
            "undecided",
            f"the registry has no {missing[row.entry]}, which 'compare_with:' names",
        )
        if row.entry in missing
        and RULES[row.rule].is_change
        and (row.verdict == "pass" or (row.verdict == NOT_APPLICABLE and row.entry not in first))
        else row
        for row in judged
    ]
