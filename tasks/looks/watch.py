"""Looks of one run: read the scored sources, and decide which models continue."""

from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from dataclasses import replace
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc
from duckdb import DuckDBPyConnection

from decaf.errors import number_of
from decaf.plan.expectations import kinds_of
from decaf.registry.gates import on_pair_types
from tasks.looks.items import DrawnSources, Subject
from tasks.looks.rules import (
    UNDECIDED,
    Rule,
    RuleEvaluator,
    RuleLook,
    gate_rules,
    items_by_subject,
    width_rules,
)
from tasks.manifest import commit_run
from tasks.plan import AuditPlan
from tasks.progress import announce
from tasks.stops import commit_stops
from warehouse.query.damage import connect_whole
from warehouse.query.views import query

Row = dict[str, Any]


class Watch:
    """Looks at the models of a run, and the number of blocks up to which each model is scored."""

    def __init__(
        self,
        plan: AuditPlan,
        rules: Callable[[Iterable[Subject]], list[Rule]],
        read_sums: Callable[[DuckDBPyConnection], pa.Table],
        block_counts: Mapping[str, int],
    ) -> None:
        """Watch ``rules`` with the sums that ``read_sums`` returns.

        ``block_counts`` has the number of scored blocks of each other model.
        """
        study = plan.study
        drawn_sources = DrawnSources(study, plan.pairs)
        metrics = [study.stop.metric] if study.stop.metric else list(study.gates)
        self.plan, self.read_sums, self.drawn_sources = plan, read_sums, drawn_sources
        self.evaluator = RuleEvaluator(
            study, plan.pairs, drawn_sources, rules(items_by_subject(drawn_sources, metrics))
        )
        self.undecided_rules = {rule.model_id: [] for rule in self.evaluator.rules}
        for rule in self.evaluator.rules:
            self.undecided_rules[rule.model_id].append(rule)
        self.first, self.last = study.stop.span(len(plan.blocks))
        self.block_counts = {card.id: len(plan.blocks) for card in study.models} | dict(
            block_counts
        )
        self.block_counts |= dict.fromkeys(self.undecided_rules, self.first)
        self.looks: list[Row] = []
        self.followers: list[tuple[str, str]] = []
        """Pairs of an earlier model and the model that is compared with it."""

    def look(self, models: Iterable[str]) -> dict[str, int]:
        """Evaluate the undecided rules of models; returns the next number of blocks by model.

        Raises ResponseError if scores exceed their bounds.
        """
        models = [model for model in models if self.undecided_rules.get(model)]
        if not models:
            return {}
        with connect_whole(self.plan.store, self.plan.study.study, threads=1) as connection:
            sums = self.read_sums(connection)
        next_counts: dict[str, int] = {}
        for model in models:
            rule_looks = [self._look_at(rule, sums) for rule in self.undecided_rules[model]]
            at, total = self.block_counts[model], len(self.plan.blocks)
            self.undecided_rules[model] = [
                rule_look.rule for rule_look in rule_looks if not rule_look.is_closed
            ]
            is_over = not self.undecided_rules[model] or at >= self.last
            self.looks += [
                self._row(rule_look, is_last=rule_look.is_closed or is_over)
                for rule_look in rule_looks
            ]
            if not is_over:
                next_counts[model] = min(self.last, at + self.plan.study.stop.every)
            verdicts = Counter(str(rule_look.verdict) for rule_look in rule_looks)
            source_count = self.drawn_sources.sources_before(at)
            announce(
                f"{self.plan.study.names.get(model, model)}: {at} of {number_of(total, 'block')}, "
                f"{source_count:,} of {self.drawn_sources.source_count:,} sources: "
                + ", ".join(f"{count} {verdict}" for verdict, count in verdicts.items())
                + ("; no further blocks are scored" if is_over and at < total else "")
            )
        self.block_counts |= next_counts
        self.follow()
        return next_counts

    def follow(self) -> None:
        """Score earlier models on as many blocks as the models that are compared with them."""
        for before, now in self.followers:
            if before not in self.undecided_rules:
                self.block_counts[before] = max(self.block_counts[before], self.block_counts[now])

    def _look_at(self, rule: Rule, sums: pa.Table) -> RuleLook:
        is_of_rule = pc.equal(sums["entry"], rule.entry)
        for name, value in rule.subject._asdict().items():
            is_value = pc.is_null(sums[name]) if value is None else pc.equal(sums[name], value)
            is_of_rule = pc.and_(is_of_rule, is_value)
        return self.evaluator.evaluate(
            rule, sums.filter(is_of_rule), self.block_counts[rule.model_id]
        )

    def _row(self, rule_look: RuleLook, *, is_last: bool) -> Row:
        rule, estimate = rule_look.rule, rule_look.estimate
        has_value = estimate is not None and estimate.value is not None
        return {
            "entry": rule.entry,
            "model_id": rule.model_id,
            "block_count": rule_look.block_count,
            "source_count": rule_look.source_count,
            "planned_source_count": int(self.evaluator.items[rule.subject].source_count.sum()),
            "metric": rule.metric,
            "rule": rule.name,
            **rule.subject._asdict(),
            "gate_limit": rule.limit,
            "level": self.evaluator.level,
            "found": estimate.value if has_value else None,
            "lower_limit": estimate.limits.lower if has_value else None,
            "upper_limit": estimate.limits.upper if has_value else None,
            "verdict": rule_look.verdict,
            "reason": rule_look.reason,
            "is_last": is_last,
        }

    def stops(self) -> list[Row]:
        """Rows to record for models that stopped before the last block."""
        undecided = {
            row["model_id"] for row in self.looks if row["is_last"] and row["verdict"] == UNDECIDED
        }
        total = len(self.plan.blocks)
        return [
            {
                "model_id": model,
                "block_count": count,
                "planned_block_count": total,
                "source_count": self.drawn_sources.sources_before(count),
                "planned_source_count": self.drawn_sources.source_count,
                "is_decided": model not in undecided,
            }
            for model, count in self.block_counts.items()
            if count < total
        ]


def watch_models(plan: AuditPlan) -> Watch:
    """Watch the intervals of the models of a study."""
    values = {"study": plan.study.study, "run_id": plan.run_id}

    def read(connection: DuckDBPyConnection) -> pa.Table:
        return connection.sql(query("looks/models"), params=values).to_arrow_table()

    return Watch(plan, lambda groups: width_rules(plan.study, groups), read, {})


def watch_entries(
    plan: AuditPlan, pending: pa.Table, against: str, block_counts: Mapping[str, int]
) -> Watch:
    """Watch the gates of changed entries, whose rows of this re-audit are ``pending``.

    ``block_counts`` has numbers of blocks of other models; without one, a model is scored
    completely. An earlier model is scored on as many blocks as the entry that is compared with it.
    """
    study = plan.study
    values = {"study": study.study, "against": against}
    with connect_whole(plan.store, study.study) as connection:
        connection.register("pending", pending)
        compared = connection.sql(query("looks/compared"), params=values).to_arrow_table()

    def read(connection: DuckDBPyConnection) -> pa.Table:
        connection.register("compared_entries", compared)
        return connection.sql(query("looks/entries")).to_arrow_table()

    gates, rows = on_pair_types(study.gates, kinds_of(study.expect)), compared.to_pylist()
    watch = Watch(plan, lambda groups: gate_rules(gates, rows, groups), read, block_counts)
    model_ids = {card.id for card in study.models}
    for row in rows:
        if row["reason"] is None and row["model_before"] in model_ids:
            watch.followers.append((row["model_before"], row["model_id"]))
    watch.follow()
    return watch


def record_stops(plan: AuditPlan, watch: Watch) -> AuditPlan:
    """Record the stops of a run's models; returns the plan of the scored blocks, the new run."""
    work = plan.work.up_to(watch.block_counts, {}).all_done()
    stopped = replace(plan, work=work, may_stop=False)
    run_ids = stopped.run_id, plan.run_id
    commit_stops(plan.store, plan.study.study, *run_ids, watch.stops(), watch.looks)
    commit_run(stopped)
    return stopped
