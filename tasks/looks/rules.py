"""Rules that looks decide: gates of versions, or widths of intervals."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import pyarrow as pa

from decaf.data.pairs import PairSet
from decaf.plan.study import Study
from decaf.registry.gates import (
    ACCURACY,
    NOT_APPLICABLE,
    NOTHING,
    RULES,
    Gates,
    Verdict,
    judge_rule,
)
from tasks.looks.items import DrawnSources, Items, Subject
from tasks.looks.limits import BoundedEstimate, columns_of, of_change, of_value

HALF_WIDTH, NARROW, UNDECIDED = "half_width", "narrow", "undecided"


@dataclass(frozen=True)
class Rule:
    """One rule on one metric of one model."""

    entry: str
    model_id: str
    metric: str
    name: str
    """Name of a gate's rule, or ``half_width`` for an interval."""
    subject: Subject
    limit: float
    reason: str | None = None
    """Why no earlier version can be compared; None if one can."""

    @property
    def is_change(self) -> bool:
        """True if the rule is about a change from the earlier version."""
        return self.name in RULES and RULES[self.name].is_change

    @property
    def is_applicable(self) -> bool:
        """False for a rule about a change without an earlier version to compare with."""
        return self.reason is None or not self.is_change


@dataclass(frozen=True)
class RuleLook:
    """State of a rule after some blocks."""

    rule: Rule
    verdict: Verdict | str
    reason: str | None
    estimate: BoundedEstimate | None
    block_count: int
    source_count: int
    is_closed: bool
    """True if further blocks cannot change the verdict."""


def gate_rules(
    gates: Mapping[str, Gates], entries: Iterable[Mapping[str, Any]], subjects: Iterable[Subject]
) -> list[Rule]:
    """Rules of gates on entries (rows of ``core_entry_versions``), including inapplicable ones."""
    rules = [
        Rule(
            entry=entry["entry"],
            model_id=entry["model_id"],
            metric=metric,
            name=name,
            subject=subject,
            limit=getattr(gate, name),
            reason=entry["reason"],
        )
        for entry in entries
        for metric, gates_of_metric in gates.items()
        for gate in gates_of_metric
        for subject in subjects
        if (metric == ACCURACY) == (subject.variant is not None)
        and gate.pair_type in (None, subject.pair_type)
        and gate.path in (None, subject.path)
        and gate.variant in (None, subject.variant)
        for name in RULES
        if getattr(gate, name) is not None
    ]
    return list(dict.fromkeys(rules))


def width_rules(study: Study, subjects: Iterable[Subject]) -> list[Rule]:
    """Rules for the interval of every model, pair type and path."""
    stop = study.stop
    return [
        Rule(card.id, card.id, stop.metric, HALF_WIDTH, subject, stop.half_width)
        for card in study.models
        for subject in subjects
        if (stop.metric == ACCURACY) == (subject.variant is not None)
    ]


def items_by_subject(drawn_sources: DrawnSources, metrics: Iterable[str]) -> dict[Subject, Items]:
    """Items of each subject that rules on some metrics need."""
    metrics = set(metrics)
    items = drawn_sources.trajectory_items() if metrics - {ACCURACY} else {}
    return items | (drawn_sources.image_items() if ACCURACY in metrics else {})


def error_per_bound(study: Study, rules: Iterable[Rule]) -> float:
    """Error of one bound, such that all bounds together have the error of the study.

    A gate can be wrong on one side of its limit only, so it counts one bound; a half width counts
    both.
    """
    applicable = [rule for rule in rules if rule.is_applicable]
    bounds = sum(2 if rule.name == HALF_WIDTH else 1 for rule in applicable)
    return study.stop.error / max(1, bounds)


class RuleEvaluator:
    """Evaluates rules with the values that all looks share."""

    def __init__(
        self, study: Study, pairs: PairSet, drawn_sources: DrawnSources, rules: list[Rule]
    ) -> None:
        self.drawn_sources = drawn_sources
        self.items = items_by_subject(drawn_sources, {rule.metric for rule in rules})
        self.rules, self.error = rules, error_per_bound(study, rules)
        bounds = study.stop.bounds or study.score.bounds
        self.width = float(bounds[1] - bounds[0])
        self.block_count = len(study.blocks(pairs))

    @property
    def level(self) -> float:
        """Confidence level of an interval of both bounds."""
        return 1.0 - 2.0 * self.error

    def evaluate(self, rule: Rule, sums: pa.Table, block_count: int) -> RuleLook:
        """Evaluate a rule after the first blocks of its model.

        ``sums`` has the rows of ``version_sources`` for its entry and subject. Raises ResponseError
        if values exceed the bounds of the score.
        """
        items = self.items[rule.subject]
        count = int(np.searchsorted(items.block, block_count))
        sources = int(items.source_count[:count].sum())
        if not rule.is_applicable:
            return RuleLook(rule, NOT_APPLICABLE, rule.reason, None, block_count, sources, True)
        is_end = block_count == self.block_count
        item_sums = self.drawn_sources.sum_items(sums, items, columns_of(rule.metric))
        usable, reason = count, None
        if rule.is_change:
            is_missing = item_sums["compared_count"] < item_sums["row_count"]
            usable = int(np.append(np.flatnonzero(is_missing[:count]), count)[0])
        if (item_sums["row_count"] < items.row_count)[:count].any():
            if not is_end:
                reason = "some of its scores are not finite, so all blocks are needed"
                return RuleLook(rule, UNDECIDED, reason, None, block_count, sources, False)
            usable, items, item_sums = _finite(items, item_sums, usable)
            if not items.block.size:
                return RuleLook(rule, UNDECIDED, NOTHING, None, block_count, 0, True)
        measure = of_change if rule.is_change else of_value
        estimate = measure(rule.metric, item_sums, items, usable, self.error, self.width)
        verdict = _verdict(rule, estimate) if usable else UNDECIDED
        is_short = rule.is_change and usable < count
        usable_sources = int(items.source_count[:usable].sum())
        if verdict == UNDECIDED and is_short:
            reason = (
                f"the earlier version has scores of {usable_sources:,} of "
                f"{items.source_count.sum():,} sources; decaf reaudit --to-the-end scores all of "
                "both versions"
                if usable
                else NOTHING
            )
        is_closed = verdict != UNDECIDED or is_short or is_end
        return RuleLook(rule, verdict, reason, estimate, block_count, usable_sources, is_closed)


def _finite(
    items: Items, item_sums: dict[str, Any], usable: int
) -> tuple[int, Items, dict[str, Any]]:
    """Restrict items to those with a finite score, after all blocks are scored."""
    has_rows = item_sums["row_count"] > 0
    finite_items = Items(
        items.item_of_source,
        items.block[has_rows],
        item_sums["weight"][has_rows],
        items.row_count[has_rows],
        items.source_count[has_rows],
    )
    return (
        int(has_rows[:usable].sum()),
        finite_items,
        {name: sums[has_rows] for name, sums in item_sums.items()},
    )


def _verdict(rule: Rule, estimate: BoundedEstimate) -> Verdict | str:
    if estimate.value is None:
        return UNDECIDED
    if rule.name == HALF_WIDTH:
        return (
            NARROW if estimate.limits.upper - estimate.limits.lower <= 2 * rule.limit else UNDECIDED
        )
    return judge_rule(rule.name, rule.limit, *estimate.limits)
