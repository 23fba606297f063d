"""Rules that are looked at until they are decided: gates of versions, or widths of intervals."""

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
    verdict_of,
)
from tasks.looks.items import DrawnSources, Group, Items
from tasks.looks.limits import Known, columns_of, of_change, of_value

HALF_WIDTH, NARROW, OPEN = "half_width", "narrow", "not enough evidence"


@dataclass(frozen=True)
class Rule:
    """One rule on one column of one model, and what is known of it."""

    entry: str
    model_id: str
    metric: str
    name: str
    """One of gates, or that the interval is to be narrow."""
    group: Group
    limit: float
    verdict: Verdict | str = OPEN
    reason: str | None = None
    is_comparable: bool = True
    """Whether there is a version before, where the rule is about a change."""

    @property
    def is_change(self) -> bool:
        """Whether it is about a change from the version before."""
        return self.name in RULES and RULES[self.name].is_change


@dataclass(frozen=True)
class Seen:
    """A rule after some blocks."""

    rule: Rule
    verdict: Verdict | str
    reason: str | None
    known: Known | None
    block_count: int
    source_count: int
    is_closed: bool
    """Whether more blocks say no more of it."""


def gate_rules(
    gates: Mapping[str, Gates], entries: Iterable[Mapping[str, Any]], groups: Iterable[Group]
) -> list[Rule]:
    """Rules of gates on entries, each a row of ``core_entry_versions``; not applicable ones too."""
    rules = [
        Rule(
            entry=entry["entry"],
            model_id=entry["model_id"],
            metric=metric,
            name=name,
            group=group,
            limit=getattr(gate, name),
            is_comparable=entry["reason"] is None,
            reason=entry["reason"],
        )
        for entry in entries
        for metric, own in gates.items()
        for gate in own
        for group in groups
        if (metric == ACCURACY) == (group.variant is not None)
        and gate.pair_type in (None, group.pair_type)
        and gate.path in (None, group.path)
        and gate.variant in (None, group.variant)
        for name in RULES
        if getattr(gate, name) is not None
    ]
    return list(dict.fromkeys(rules))


def width_rules(study: Study, groups: Iterable[Group]) -> list[Rule]:
    """A rule for the interval of every model, pair type and path."""
    stop = study.stop
    return [
        Rule(card.id, card.id, stop.metric, HALF_WIDTH, group, stop.half_width)
        for card in study.models
        for group in groups
        if (stop.metric == ACCURACY) == (group.variant is not None)
    ]


def groups_of(drawn_sources: DrawnSources, metrics: Iterable[str]) -> dict[Group, Items]:
    """What rules on some columns can be about."""
    metrics = set(metrics)
    groups = drawn_sources.of_trajectories() if metrics - {ACCURACY} else {}
    return groups | (drawn_sources.of_images() if ACCURACY in metrics else {})


def error_of_a_bound(study: Study, rules: Iterable[Rule]) -> float:
    """Error of one bound, so that all of them together have that of the study.

    A gate is decided wrongly on the one side of its limit where the truth is not, so one bound a
    gate counts; of a half width, both do.
    """
    applicable = [rule for rule in rules if rule.is_comparable or not rule.is_change]
    bounds = sum(2 if rule.name == HALF_WIDTH else 1 for rule in applicable)
    return study.stop.error / max(1, bounds)


class Looker:
    """Looks at rules, with all that does not change from look to look."""

    def __init__(
        self, study: Study, pairs: PairSet, drawn_sources: DrawnSources, rules: list[Rule]
    ) -> None:
        self.drawn_sources = drawn_sources
        self.items = groups_of(drawn_sources, {rule.metric for rule in rules})
        self.rules, self.error = rules, error_of_a_bound(study, rules)
        bounds = study.stop.bounds or study.score.bounds
        self.width = float(bounds[1] - bounds[0])
        self.block_count = len(study.blocks(pairs))

    @property
    def level(self) -> float:
        """Level of an interval of both bounds."""
        return 1.0 - 2.0 * self.error

    def look(self, rule: Rule, sums: pa.Table, block_count: int) -> Seen:
        """A rule after the first blocks of its model.

        ``sums`` are what the sources of its entry and group have, as ``version_sources`` gives
        them. Raises ResponseError where values leave the bounds of the score.
        """
        items = self.items[rule.group]
        count = int(np.searchsorted(items.block, block_count))
        sources = int(items.source_count[:count].sum())
        if rule.is_change and not rule.is_comparable:
            return Seen(rule, NOT_APPLICABLE, rule.reason, None, block_count, sources, True)
        is_end = block_count == self.block_count
        found = self.drawn_sources.summed(sums, items, columns_of(rule.metric))
        usable, reason = count, None
        if rule.is_change:
            is_missing = found["compared_count"] < found["row_count"]
            usable = int(np.append(np.flatnonzero(is_missing[:count]), count)[0])
        if (found["row_count"] < items.row_count)[:count].any() and not is_end:
            reason = "some of its scores are not finite, so all blocks are needed"
            return Seen(rule, OPEN, reason, None, block_count, sources, False)
        if (found["row_count"] < items.row_count)[:count].any():
            usable, items, found = _finite(items, found, usable)
            if not items.block.size:
                return Seen(rule, OPEN, NOTHING, None, block_count, 0, True)
        measure = of_change if rule.is_change else of_value
        known = measure(rule.metric, found, items, usable, self.error, self.width)
        verdict = _verdict(rule, known) if usable else OPEN
        is_short = rule.is_change and usable < count
        if verdict == OPEN and is_short:
            reason = (
                f"the version before has scores of {usable} of {items.block.size} of what is "
                "drawn; decaf reaudit --to-the-end scores all of the versions that are there"
                if usable
                else NOTHING
            )
        seen = int(items.source_count[:usable].sum())
        is_closed = verdict != OPEN or is_short or is_end
        return Seen(rule, verdict, reason, known, block_count, seen, is_closed)


def _finite(items: Items, found: dict[str, Any], usable: int) -> tuple[int, Items, dict[str, Any]]:
    """Items with anything finite, when all are scored: what is withheld counts nowhere."""
    kept = found["row_count"] > 0
    rest = Items(
        items.place,
        items.block[kept],
        found["weight"][kept],
        items.row_count[kept],
        items.source_count[kept],
    )
    return int(kept[:usable].sum()), rest, {name: own[kept] for name, own in found.items()}


def _verdict(rule: Rule, known: Known) -> Verdict | str:
    if known.value is None:
        return OPEN
    if rule.name == HALF_WIDTH:
        return NARROW if known.limits.upper - known.limits.lower <= 2 * rule.limit else OPEN
    return verdict_of(rule.name, rule.limit, *known.limits)
