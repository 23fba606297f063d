"""State how far findings hold: sample, threshold, stages, paths, control, gaps."""

from collections import Counter
from collections.abc import Iterator, Sequence

from decaf.data.class_ids import GUESSED
from decaf.errors import number_of
from decaf.foundation.number_text import limit_text, percent_text, score_text
from decaf.library.trust import MANY_NEAR
from decaf.registry.messages import NO_VERSION
from warehouse.report.audit.facts import Facts, Row

MOST = 8
"""Most models, entries, responses and warnings that are listed."""
MOST_NAMES = 3
"""Most models that one sentence names."""
Mark = tuple[str, str]


def trust_sentences(facts: Facts) -> Iterator[tuple[str, str]]:
    """Yield sentences on how far the findings hold, each with its mark.

    The mark is ``well``, ``mind`` for a fact that could change a finding, or ``note``.
    """
    first = [row for row in facts.warnings if _doubts_classes(row)]
    for row in first[:MOST]:
        yield "mind", f"{row.model_id or 'All models'}: {row.detail}"
    done, planned = facts.progress.scored_count, facts.progress.block_count
    if done < planned:
        yield "mind", f"{planned - done} of {planned} blocks are not scored yet."
    else:
        checked = ", and every check of stored rows passed" if facts.run.is_finished else ""
        yield "well", f"Nothing is missing: {planned} of {planned} blocks are scored{checked}."
    yield from _trust_in_responses(facts)
    if on_weights := describe_weights(facts):
        yield "note", on_weights
    if not any(row.warning == "quarantined" for row in facts.warnings):
        yield "well", "No trajectory is quarantined."
    yield from _trust_in_gates(facts)
    warnings = [row for row in facts.warnings if row not in first]
    for row in warnings[:MOST]:
        count = "" if row.affected_count is None else f"{row.affected_count:,} "
        if row.warning == "remark":
            yield "note", f"{count}{row.detail}"
        else:
            yield "mind", f"{row.model_id or 'All models'}: {count}{row.detail}"
    if hidden := len(first[MOST:]) + len(warnings[MOST:]):
        yield "mind", f"{hidden} more warnings"


def describe_weights(facts: Facts) -> str:
    """State which numbers are weighted; empty if all pairs have one weight."""
    smallest, largest = facts.sample.smallest_weight, facts.sample.largest_weight
    if smallest == largest:
        return ""
    return (
        f"Means and shares over pairs are weighted, with weights from {smallest:,.4g} to "
        f"{largest:,.4g}; the accuracy of a model is not: it counts each input once."
    )


def _doubts_classes(row: Row) -> bool:
    """True for a warning that scores may be of the wrong class; the report lists it first."""
    is_guess = row.warning == "remark" and GUESSED in row.detail
    return is_guess or row.warning in ("below_chance", "missed_classes")


def _trust_in_gates(facts: Facts) -> Iterator[tuple[str, str]]:
    for entry in facts.entries:
        if entry.state != "audited" and entry.problem:
            yield "mind", f"{entry.entry} {entry.version} is not audited: {entry.problem}"
    unsure = Counter(row.entry for row in facts.verdicts if row.verdict == "undecided")
    for name, count in unsure.items():
        yield "mind", f"{name}: undecided limits: {count}."
    for (name, reason), count in Counter(unapplied_limits(facts)).items():
        limits = "limit on a change does" if count == 1 else "limits on a change do"
        yield "mind", f"{name}: {count} {limits} not apply: {reason}."
    for row in facts.standing:
        if row.accepted_at is not None:
            who = f"{row.accepted_by} accepted it: {row.why}"
            yield "mind", f"{row.entry} {row.version} failed its gates, and {who}"
    if any(row.verdict == "pass" for row in facts.entries) and not (facts.standing or unsure):
        yield "well", "Every gate that applies passed."


def unapplied_limits(facts: Facts) -> Iterator[tuple[str, str]]:
    """Yield entry and reason of each limit on a change that had no comparison.

    Entries without an earlier version are left out.
    """
    for row in facts.verdicts:
        if row.verdict == "not applicable" and row.reason and NO_VERSION not in row.reason:
            yield row.entry, row.reason


def _trust_in_responses(facts: Facts) -> Iterator[Mark]:
    """Yield one sentence each on sample, threshold, stages, paths and control."""
    controls = {row.name for row in facts.names if row.expect == "control"}
    shown = {row.name: row.display_name for row in facts.names}
    rows = [row for row in facts.trust if row.pair_type not in {shown[name] for name in controls}]
    if rows:
        yield _on_sample(rows)
        yield _on_near_pairs(rows)
        yield _on_threshold(rows)
        yield from _on_stages(rows)
        yield from _on_refinements(rows)
        yield from _on_repeated_effects(rows)
        yield _on_paths(rows)
        yield _on_control(rows)
        yield from _compare_with_control(rows)


def _on_sample(rows: Sequence[Row]) -> Mark:
    fewest = min(row.source_count for row in rows)
    uses = {row.interval_use for row in rows}
    smallest = f"The smallest sample has {number_of(fewest, 'source')}"
    if "none" in uses:
        return "mind", f"{smallest}: do not rely on its intervals."
    if "rough" in uses:
        return "mind", f"{smallest}: its intervals are rough."
    return "well", f"{smallest}."


def _on_near_pairs(rows: Sequence[Row]) -> Mark:
    epsilon, largest = rows[0].epsilon, max(row.near_frac for row in rows)
    words = f"have |d| from {limit_text(epsilon / 2)} to {limit_text(2 * epsilon)}"
    doubtful = [row for row in rows if row.near_frac >= MANY_NEAR]
    if not doubtful:
        return "well", f"In each response, at most {percent_text(largest)} of the pairs {words}."
    return "mind", (
        f"In {_count(doubtful, rows)}, {percent_text(MANY_NEAR)} or more of the pairs {words}, "
        f"near the threshold (up to {percent_text(largest)})."
    )


def _on_threshold(rows: Sequence[Row]) -> Mark:
    doubtful = [row for row in rows if not row.is_firm]
    if not doubtful:
        return "well", "Half and twice the threshold change no main role."
    return "mind", f"Half or twice the threshold changes the main role of {_count(doubtful, rows)}."


def _on_stages(rows: Sequence[Row]) -> Iterator[Mark]:
    """Yield a sentence on responses whose paths add something to M, if there are any.

    On other paths, more stages only move E towards M.
    """
    rows = [row for row in rows if not row.repeats_effect]
    if not rows:
        return
    inexact = [row for row in rows if row.stop_reason != "exact"]
    checked = [row for row in inexact if row.stage_error is not None]
    doubtful = [row for row in checked if not row.is_converged]
    largest = score_text(max((row.stage_error for row in checked), default=0))
    if not inexact:
        yield "well", "Every path has stages that show all its states."
    elif not checked and all(row.stage_count is None for row in inexact):
        yield "note", "No path has stages that can be halved, so their number is not checked."
    elif not checked:
        yield "note", "There are too few sources to check the number of stages."
    elif not doubtful:
        yield (
            "well",
            (
                f"Leaving out every second stage changes no mean by more than {largest} (95 % "
                "intervals)."
            ),
        )
    else:
        yield (
            "mind",
            (
                f"Leaving out every second stage changes means by at most {largest} (95 % "
                f"intervals): more stages could change {_count(doubtful, checked)}."
            ),
        )


def _on_refinements(rows: Sequence[Row]) -> Iterator[Mark]:
    """Yield a sentence for each path whose stages were doubled, if there are any."""
    refined = {row.path: row for row in rows if row.stop_reason is not None}
    for path, row in refined.items():
        stopped = f"Doubling the stages of {path} stopped at {row.stage_count}"
        if row.stop_reason == "converged":
            yield "well", f"{stopped}: no mean moves by more than the study allows."
        elif row.stop_reason == "exact":
            yield "well", f"{stopped}: they show every state, so the sums are exact."
        else:
            yield "mind", f"{stopped}, the most that the study allows: means still move."


def _on_repeated_effects(rows: Sequence[Row]) -> Iterator[Mark]:
    """Yield a sentence on responses whose path adds nothing to M, if there are any."""
    repeated = [row for row in rows if row.repeats_effect]
    if repeated:
        yield (
            "mind",
            (
                f"Each stage shows the endpoint difference or none in {_count(repeated, rows)}: "
                "such a path adds nothing, so read M."
            ),
        )


def _on_paths(rows: Sequence[Row]) -> Mark:
    compared = [row for row in rows if row.paths_agree is not None]
    if not compared:
        return "note", "No pair type is on several paths; another path could give another result."
    doubtful = [row for row in compared if not row.paths_agree]
    if not doubtful:
        return "well", "All paths agree on the main role, and on Abs within a factor of two."
    return "mind", f"The paths disagree on {_count(doubtful, compared)}."


def _on_control(rows: Sequence[Row]) -> Mark:
    if not any(row.control_response is not None for row in rows):
        return "note", (
            "No pair type is a control; with one (expect: control) this page would say whether "
            "models react to any change."
        )
    compared = [row for row in rows if row.reacts_to_any_change is not None]
    if not compared:
        return "mind", "Too few sources have a control change for a comparison with it."
    if all(row.control_response == 0 for row in compared):
        return "mind", (
            "No control change ever moves the score, like a column that the model does not use: "
            "a comparison with it shows nothing."
        )
    doubtful = [row for row in compared if row.reacts_to_any_change]
    if not doubtful:
        return "well", "Each response that counts is larger than the largest response to a control."
    return "mind", f"A control change moves the score as far in {_count(doubtful, compared)}."


def _compare_with_control(rows: Sequence[Row]) -> Iterator[Mark]:
    """Yield a sentence with the responses closest to those of controls that move a score."""
    compared = [row for row in rows if row.control_response and row.role != "no response"]
    if not compared:
        return
    compared.sort(key=lambda row: row.control_difference)
    words = [
        f"{row.model_id}, {row.pair_type} on {row.path}: "
        f"{score_text(row.control_response + row.control_difference)} and "
        f"{score_text(row.control_response)} ({row.control}), difference "
        f"{score_text(row.control_difference)}"
        + _interval_text(row.control_lower_95, row.control_upper_95)
        for row in compared
    ]
    more = f"; {len(words) - MOST} more are in out_controls" if len(words) > MOST else ""
    yield "note", f"Responses to a change and to its control: {'; '.join(words[:MOST])}{more}."


def _interval_text(lower: float | None, upper: float | None) -> str:
    if lower is None or upper is None:
        return ""
    return f" [{score_text(lower)} to {score_text(upper)}]"


def _count(doubtful: Sequence[Row], rows: Sequence[Row]) -> str:
    return f"{len(doubtful)} of {len(rows)} responses ({_models(doubtful)})"


def _models(rows: Sequence[Row]) -> str:
    counts = Counter(row.model_id for row in rows)
    names = [name for name, _ in counts.most_common(MOST_NAMES)]
    more = len(counts) - len(names)
    return ", ".join(names) + (f" and {more} more" if more else "")
