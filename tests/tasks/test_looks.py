"""Looks at rules, on invented sums of a few sources in their drawn order."""

from dataclasses import replace

import numpy as np
import pyarrow as pa
import pytest
from small_studies import of_scenes

from decaf.data.pairs import Input, Pair, PairSet
from decaf.errors import ResponseError
from decaf.plan.study import Study
from tasks.looks.items import DrawnSources, Subject
from tasks.looks.limits import of_change, of_value
from tasks.looks.rules import RuleEvaluator, error_per_bound, gate_rules, width_rules

WALL = Subject("wall", "blend", None)
COLUMNS = ("evidence", "contradiction", "abs_response", "evidence_before", "abs_response_before")


def studied(tmp_path, **keys):
    card = {"id": "one", "family": "any", "weights": "one.safetensors", "input_size": 32}
    card |= {"mean": [0.5], "std": [0.5], "architecture": "factory:torch.nn:Linear"}
    gates = {"evidence": {"at_most": 0.5}}
    stop = {"when": "gates_decided", "error": 0.1}
    registry = {"kind": "folder", "root": str(tmp_path)}
    settings = {"stop": stop, "gates": gates, "registry": registry, "sources_per_block": 2} | keys
    return Study(**of_scenes(tmp_path, [card], **settings))


def paired(count, **keys):
    """A pair of each source, s000 to the last, of the pair type wall."""
    images = [
        Input(f"{n}-{variant}", variant, f"{n}", "")
        for n in range(count)
        for variant in ("factual", "changed")
    ]
    pairs = [
        replace(Pair(f"p{n}", f"s{n:03}", "wall", n % 2, "test", 2 * n, 2 * n + 1), **keys)
        for n in range(count)
    ]
    return PairSet(tuple(images), tuple(pairs), "")


def summed(drawn_sources, blocks, counts=1, **columns):
    """Sums of the sources of the first blocks; each column a number, or a function of the place."""
    count = drawn_sources.sources_before(blocks)
    sources = list(drawn_sources.rank_of)[:count]
    weights = {"row_count": counts, "compared_count": counts, "weight": 1.0}
    own = dict.fromkeys(COLUMNS, 0.0) | weights | columns
    given = {
        name: [one(n) if callable(one) else one for n in range(count)] for name, one in own.items()
    }
    return pa.table({"source_id": sources, **given})


def test_items_are_sources_with_their_weights_and_repetitions(tmp_path):
    paths = {"blend": {"kind": "blend"}, "noise": {"kind": "gaussian", "seeds": [1, 2]}}
    study = studied(tmp_path, paths=paths)
    pairs = paired(5)
    heavy = replace(pairs.pairs[3], weight=2.5)
    other = replace(pairs.pairs[0], pair_id="more", pair_type="floor", weight=0.5)
    pairs = replace(pairs, pairs=(*pairs.pairs[:3], heavy, pairs.pairs[4], other))
    drawn_sources = DrawnSources(study, pairs)
    groups = drawn_sources.trajectory_items()
    assert list(groups) == [
        Subject(kind, path, None) for kind in ("wall", "floor") for path in ("blend", "noise")
    ]
    at = drawn_sources.rank_of["s003"]
    np.testing.assert_allclose(groups[WALL].weight, np.where(np.arange(5) == at, 2.5, 1.0))
    noise = groups[Subject("wall", "noise", None)]
    np.testing.assert_allclose(noise.weight, 2 * groups[WALL].weight)
    assert noise.row_count.tolist() == [2] * 5
    assert groups[WALL].block.tolist() == [0, 0, 1, 1, 2]
    floor = groups[Subject("floor", "blend", None)]
    assert floor.weight.tolist() == [0.5]
    assert floor.block.tolist() == [drawn_sources.rank_of["s000"] // 2]
    images = drawn_sources.image_items()
    assert {group.variant: items.row_count.sum() for group, items in images.items()} == {
        "factual": 5,
        "changed": 5,
    }


def test_an_image_that_sources_share_is_counted_with_the_first_of_them(tmp_path):
    pairs = paired(4)
    shared = tuple(replace(pair, minus=1) for pair in pairs.pairs)
    drawn_sources = DrawnSources(studied(tmp_path), replace(pairs, pairs=shared))
    changed = drawn_sources.image_items()[Subject(None, None, "changed")]
    assert changed.row_count.tolist() == [1]
    assert changed.item_of_source.tolist() == [
        0 if name == "s000" else -1 for name in drawn_sources.rank_of
    ]


def test_a_block_is_what_was_drawn_where_classes_are_dealt(tmp_path):
    study = studied(tmp_path, stop={"when": "gates_decided", "by_class": True})
    items = DrawnSources(study, paired(6)).trajectory_items()[WALL]
    assert items.block.tolist() == [0, 1, 2]
    assert items.weight.tolist() == items.source_count.tolist() == [2, 2, 2]


def test_the_last_look_is_exact_and_others_hold_it(tmp_path):
    study, pairs = studied(tmp_path), paired(60)
    drawn_sources = DrawnSources(study, pairs)
    items = drawn_sources.trajectory_items()[WALL]
    drawn = np.random.default_rng(0).beta(2, 5, 60)
    columns = {
        "evidence": drawn,
        "abs_response": drawn + 0.1,
        "evidence_before": drawn[::-1] / 2,
        "abs_response_before": drawn[::-1],
        "contradiction": np.full(60, 0.0),
    }
    sums = columns | {"weight": np.ones(60), "row_count": np.ones(60)}
    change = drawn.mean() - drawn.mean() / 2
    share = drawn.sum() / (drawn + 0.1).sum()
    for measure, metric, truth in (
        (of_value, "evidence", drawn.mean()),
        (of_value, "evidence_frac", share),
        (of_change, "evidence", change),
        (of_change, "evidence_frac", share - 0.5),
        (of_value, "contradiction_frac", 0.0),
    ):
        before = (-np.inf, np.inf)
        for count in (5, 20, 40, 59, 60):
            value, limits = measure(metric, sums, items, count, 0.025, 1.0)
            assert before[0] <= limits.lower <= truth + 1e-9
            assert truth - 1e-9 <= limits.upper <= before[1]
            before = limits
        assert value == pytest.approx(truth)
        assert limits == (value, value) or metric == "evidence_frac"
        np.testing.assert_allclose(limits, truth, atol=1e-6)


def test_a_share_of_no_response_is_open_and_a_score_beyond_its_bounds_is_named(tmp_path):
    items = DrawnSources(studied(tmp_path), paired(4)).trajectory_items()[WALL]
    nothing = {"evidence": np.zeros(4), "abs_response": np.zeros(4)}
    for count in (2, 4):
        value, limits = of_value("evidence_frac", nothing, items, count, 0.1, 1.0)
        assert value is None
        assert limits == (0.0, 1.0)
    with pytest.raises(ResponseError, match="expected"):
        of_value("evidence", {"evidence": np.full(4, 1.2)}, items, 4, 0.1, 1.0)
    assert of_value("evidence", {"evidence": np.full(4, 1.2)}, items, 4, 0.1, 2.0).value == 1.2


def rule(study, **changed):
    row = {"entry": "net", "model_id": "one", "reason": None}
    (found,) = gate_rules(study.gates, [row], [WALL])
    return replace(found, **changed)


def test_a_gate_closes_when_the_limits_leave_it(tmp_path):
    study, pairs = studied(tmp_path), paired(80)
    own = rule(study)
    evaluator = RuleEvaluator(study, pairs, DrawnSources(study, pairs), [own])
    assert evaluator.error == 0.1
    verdicts = {}
    for value in (0.05, 0.5, 0.95):
        drawn_sources = evaluator.drawn_sources
        looks = [
            evaluator.evaluate(own, summed(drawn_sources, n, evidence=value), n)
            for n in range(2, 41)
        ]
        closed = next(n for n, one in enumerate(looks, 2) if one.is_closed)
        verdicts[value] = (looks[closed - 2].verdict, closed)
        assert looks[closed - 2].source_count == 2 * closed
        assert {one.verdict for one in looks[: closed - 2]} <= {"undecided"}
        later = {one.verdict for one in looks[closed - 2 :]}
        assert len(later) == 1  # a decision is not taken back
    assert verdicts[0.05] == ("pass", verdicts[0.05][1])
    assert verdicts[0.95] == ("fail", verdicts[0.95][1])
    assert verdicts[0.05][1] == verdicts[0.95][1] < 20
    assert verdicts[0.5] == ("pass", 40)  # equal to the limit: known when all is


def test_scores_that_are_not_finite_keep_a_rule_open_until_all_is_scored(tmp_path):
    study, pairs = studied(tmp_path), paired(20)
    own = rule(study)
    evaluator = RuleEvaluator(study, pairs, DrawnSources(study, pairs), [own])

    def sums(blocks):
        return summed(evaluator.drawn_sources, blocks, evidence=0.05).filter(
            pa.array([n != 1 for n in range(2 * blocks)])
        )

    seen = evaluator.evaluate(own, sums(8), 8)
    assert (seen.verdict, seen.is_closed) == ("undecided", False)
    assert "not finite, so all blocks are needed" in seen.reason
    end = evaluator.evaluate(own, sums(10), 10)
    assert (end.verdict, end.is_closed, end.source_count) == ("pass", True, 19)
    assert end.estimate.value == pytest.approx(0.05)


def test_a_rule_stays_open_where_no_score_is_finite_at_the_end(tmp_path):
    study, pairs = studied(tmp_path), paired(20)
    own = rule(study)
    evaluator = RuleEvaluator(study, pairs, DrawnSources(study, pairs), [own])
    end = evaluator.evaluate(own, summed(evaluator.drawn_sources, 10).slice(0, 0), 10)
    assert (end.verdict, end.estimate, end.is_closed) == ("undecided", None, True)
    assert end.source_count == 0


def test_a_change_needs_as_much_of_the_version_before(tmp_path):
    study, pairs = studied(tmp_path, gates={"evidence": {"increase": 0.2}}), paired(40)
    own = rule(study)
    drawn_sources = DrawnSources(study, pairs)
    evaluator = RuleEvaluator(study, pairs, drawn_sources, [own])
    alike = summed(drawn_sources, 10, evidence=0.5, evidence_before=0.5)
    assert evaluator.evaluate(own, alike, 10).estimate.value == 0.0
    short = summed(
        drawn_sources, 10, evidence=0.5, evidence_before=0.5, compared_count=lambda n: int(n < 6)
    )
    seen = evaluator.evaluate(own, short, 10)
    assert (seen.verdict, seen.is_closed, seen.source_count) == ("undecided", True, 6)
    assert "6 of 40" in seen.reason
    none = evaluator.evaluate(own, summed(drawn_sources, 10, compared_count=0), 10)
    assert (none.reason, none.is_closed) == ("it was not measured", True)
    first = replace(own, reason="there is no version before it")
    seen = evaluator.evaluate(first, alike, 10)
    assert (seen.verdict, seen.reason) == ("not applicable", "there is no version before it")
    assert seen.is_closed


def test_rules_share_the_error(tmp_path):
    gates = {
        "evidence": [{"increase": 0.1, "at_most": 0.5}, {"at_most": 0.5}],
        "accuracy": {"at_least": 0.5},
    }
    study = studied(tmp_path, gates=gates)
    rows = [
        {"entry": "old", "model_id": "a", "reason": None},
        {"entry": "new", "model_id": "b", "reason": "there is no version before it"},
    ]
    groups = [WALL, Subject("floor", "blend", None), Subject(None, None, "factual")]
    rules = gate_rules(study.gates, rows, groups)
    assert len(rules) == 2 * (2 * 2 + 1)  # what two gates say alike is one rule
    assert error_per_bound(study, rules) == 0.1 / 8  # two are not applicable
    stop = {"when": "interval", "metric": "evidence", "half_width": 0.1, "error": 0.1}
    narrow = studied(tmp_path, stop=stop)
    rules = width_rules(narrow, groups)
    assert [one.subject for one in rules] == groups[:2]
    assert error_per_bound(narrow, rules) == 0.1 / 4


def test_an_interval_is_narrow_or_not(tmp_path):
    stop = {"when": "interval", "metric": "evidence", "half_width": 0.2, "error": 0.1}
    study, pairs = studied(tmp_path, stop=stop), paired(80)
    (own,) = width_rules(study, [WALL])
    evaluator = RuleEvaluator(study, pairs, DrawnSources(study, pairs), [own])
    looks = [
        evaluator.evaluate(own, summed(evaluator.drawn_sources, n, evidence=0.3), n)
        for n in range(2, 41)
    ]
    for seen in looks:
        width = seen.estimate.limits.upper - seen.estimate.limits.lower
        assert (seen.verdict == "narrow") == (width <= 0.4) == seen.is_closed
    assert looks[0].verdict != looks[-1].verdict
    assert evaluator.level == pytest.approx(0.9)
