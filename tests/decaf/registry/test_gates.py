"""Gates by hand, and their verdicts as properties."""

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import ValidationError

from decaf.errors import ConfigError
from decaf.registry.gates import (
    METRICS,
    NOTHING,
    VERDICTS,
    DriftRow,
    Gate,
    check_places,
    judge,
    on_pair_types,
)

FIELDS = {"entry": "net", "pair_type": "wall", "path": "blend", "variant": None}
FIELDS |= {"metric": "contradiction", "level": 0.95, "reason": None, "source_count": 20}
FIELDS |= {"value_before": 0.10, "value": 0.16, "lower_limit": 0.12, "upper_limit": 0.20}
FIELDS |= {"change": 0.06, "change_lower": 0.03, "change_upper": 0.09}
ROW = DriftRow(**FIELDS, p_value=0.001, p_adjusted=0.01)


@pytest.mark.parametrize(
    ("gate", "verdict"),
    [
        ({"increase": 0.02}, "fail"),
        ({"increase": 0.03}, "undecided"),
        ({"increase": 0.05}, "undecided"),
        ({"increase": 0.09}, "pass"),
        ({"decrease": 0}, "pass"),
        ({"at_most": 0.11}, "fail"),
        ({"at_most": 0.15}, "undecided"),
        ({"at_most": 0.2}, "pass"),
        ({"at_least": 0.21}, "fail"),
        ({"at_least": 0.15}, "undecided"),
        ({"at_least": 0.12}, "pass"),
    ],
)
def test_the_whole_interval_decides(gate, verdict):
    (judged,) = judge({"contradiction": [Gate(**gate)]}, [ROW])
    assert (judged.verdict, judged.reason) == (verdict, None)


@pytest.mark.parametrize("confidence", [0.0001, 0.49, 1])
def test_a_level_below_one_half_is_refused(confidence):
    with pytest.raises(ValidationError, match="confidence"):
        Gate(at_most=0.1, confidence=confidence)


def test_a_fall_is_a_decrease():
    fallen = ROW._replace(change=-0.06, change_lower=-0.09, change_upper=-0.03)
    gates = [Gate(decrease=0.02), Gate(decrease=0.05), Gate(decrease=0.09), Gate(increase=0)]
    found = [judge({"contradiction": [gate]}, [fallen])[0].verdict for gate in gates]
    assert found == ["fail", "undecided", "pass", "pass"]


def test_a_gate_concerns_its_level_and_its_rows():
    gate = Gate(increase=0.02, pair_type="wall")
    others = [ROW._replace(level=0.9), ROW._replace(pair_type="shape")]
    assert len(judge({"contradiction": [gate]}, [*others, ROW])) == 1
    for metric, rows in (("evidence", [ROW]), ("contradiction", others)):
        (judged,) = judge({metric: [gate]}, rows)
        assert (judged.verdict, judged.reason) == ("undecided", NOTHING)
        assert (judged.entry, judged.metric, judged.pair_type) == ("net", metric, "wall")
    band = Gate(at_least=0.5, at_most=0.9, variant="orig")
    clean = ROW._replace(metric="accuracy", pair_type=None, path=None, variant="orig")
    rules = [(one.rule, one.verdict) for one in judge({"accuracy": [band]}, [clean])]
    assert rules == [("at_most", "pass"), ("at_least", "fail")]


def test_gates_of_one_column_are_judged_each_on_its_own_rows():
    shape = ROW._replace(pair_type="shape")
    gates = [Gate(at_most=0.11, pair_type="wall"), Gate(at_most=0.2, pair_type="shape")]
    found = [
        (one.pair_type, one.limit, one.verdict)
        for one in judge({"contradiction": gates}, [ROW, shape])
    ]
    assert found == [("wall", 0.11, "fail"), ("shape", 0.2, "pass")]


def test_what_two_gates_say_alike_is_said_once():
    gates = [Gate(at_most=0.11, pair_type="wall"), Gate(at_most=0.11), Gate(at_most=0.05)]
    found = [(one.limit, one.verdict) for one in judge({"contradiction": gates}, [ROW])]
    assert found == [(0.11, "fail"), (0.05, "fail")]


def test_a_change_from_nothing_is_not_applicable():
    gone = {"value_before": None, "change": None, "change_lower": None, "change_upper": None}
    first = ROW._replace(**gone, reason="the first")
    gate = Gate(increase=0.02, at_most=0.3)
    increase, at_most = judge({"contradiction": [gate]}, [first])
    assert (increase.verdict, increase.reason) == ("not applicable", "the first")
    assert (at_most.verdict, at_most.reason) == ("pass", None)
    increase, _ = judge({"contradiction": [gate]}, [first._replace(reason=None)])
    assert (increase.verdict, bool(increase.reason)) == ("not applicable", True)


@pytest.mark.parametrize(("count", "verdict"), [(1, "undecided"), (4, "undecided"), (5, "pass")])
@pytest.mark.parametrize("reason", [None, "there is no version before it"])
def test_few_sources_decide_nothing(count, verdict, reason):
    gate, row = Gate(increase=0.1, at_most=0.3), ROW._replace(source_count=count, reason=reason)
    for judged in judge({"contradiction": [gate]}, [row]):
        assert judged.verdict == verdict
        assert (judged.reason or "").startswith(f"{count} source") is (verdict == "undecided")
        assert (judged.lower_limit is None) is (verdict == "undecided")
        assert judged.found is not None


def test_a_limit_on_a_change_does_not_apply_to_a_first_version_with_few_sources():
    gone = {"value_before": None, "change": None, "change_lower": None, "change_upper": None}
    first = ROW._replace(**gone, reason="the first", source_count=1)
    (judged,) = judge({"contradiction": [Gate(increase=0.02)]}, [first])
    assert (judged.verdict, judged.reason) == ("not applicable", "the first")


def test_a_value_without_an_interval_does_not_blame_the_comparison():
    row = ROW._replace(lower_limit=None, upper_limit=None, reason="the pairs are others")
    (judged,) = judge({"contradiction": [Gate(at_most=0.3)]}, [row])
    assert judged.verdict == "undecided"
    assert "pairs" not in judged.reason


NUMBER = st.floats(-1, 1)


@given(NUMBER, NUMBER, st.floats(0, 1), st.floats(0, 1))
def test_a_wider_limit_is_never_judged_worse(one, other, limit, more):
    lower, upper = sorted((one, other))
    row = ROW._replace(change_lower=lower, change_upper=upper)
    for rule in ("increase", "decrease"):
        tight, wide = (
            judge({"contradiction": [Gate(**{rule: allowed})]}, [row])[0].verdict
            for allowed in (limit, limit + more)
        )
        assert VERDICTS.index(wide) <= VERDICTS.index(tight)


def test_a_gate_on_a_place_that_is_not_there():
    gates = {"evidence": [Gate(increase=0.1), Gate(increase=0.1, path="blnd")]}
    with pytest.raises(ConfigError, match=r"gates.evidence.path.*'blnd'; .* 'blend'"):
        check_places(gates, path=["blend", "patch"], pair_type=[])
    check_places(gates, path=["blnd"])


def test_a_gate_on_what_should_not_matter():
    gates = {"evidence": (Gate(at_most=0.05, expect="should_not_matter"), Gate(at_least=0.1))}
    expect = {"wall": "should_not_matter", "shape": "should_matter", "floor": "should_not_matter"}
    assert on_pair_types(gates, expect) == {
        "evidence": (
            Gate(at_most=0.05, pair_type="wall"),
            Gate(at_most=0.05, pair_type="floor"),
            Gate(at_least=0.1),
        )
    }
    with pytest.raises(
        ConfigError, match=r"gates.evidence.expect.*no pair type is should_not_matter"
    ):
        on_pair_types(gates, {"shape": "should_matter", "wall": "unknown"})
    with pytest.raises(ValueError, match="give one of them"):
        Gate(at_most=0.05, expect="should_matter", pair_type="wall")
    with pytest.raises(ValueError, match="should_not_matter"):
        Gate(at_most=0.05, expect="unknown")


def test_a_gate_on_accuracy_needs_labels():
    gates = {"accuracy": [Gate(decrease=0.1)]}
    check_places(gates)
    with pytest.raises(ConfigError, match="gates.accuracy.*labels"):
        check_places(gates, has_labels=False)


def test_every_column_is_one_of_the_drift():
    assert len(set(METRICS)) == 10
