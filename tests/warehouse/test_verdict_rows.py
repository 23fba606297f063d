"""Verdict rows: M beside a limit that it breaks, and what a report without limits says."""

import re
from types import SimpleNamespace

import pytest
from stub_audit import Audit

from warehouse.report.audit.verdict_rows import scale_of

ONE = Audit(models=("only",), pair_types=("floor",), paths=("blend",))
ONLY_M = (
    "UPDATE out_model_profiles SET abs_response = 0.03, evidence = 0.02, contradiction = 0, "
    "fragility = 0.01, endpoint_magnitude = 0.2"
)
LIMIT = "UPDATE core_display_names SET expect = 'should_not_matter', safe_limit = 0.1"


def test_a_limit_that_only_m_breaks_is_drawn(stub, report):
    connection = stub(ONE)
    connection.execute(ONLY_M)
    connection.execute(LIMIT)
    page = report(connection).page
    track = page[page.index('<div class="track"') : page.index('<p class="said">')]
    assert re.findall(r'<em style="left:([\d.]+)%"', track) == ["20.00"]
    assert re.findall(r'<s style="left:([\d.]+)%"', track) == ["10.00"]
    assert "M 0.200" in page


def test_a_role_that_depends_on_the_threshold_is_named_with_it(stub, report):
    connection = stub(ONE)
    connection.execute(ONLY_M.replace("0.02, contradiction = 0,", "0, contradiction = 0.02,"))
    text = report(connection).text
    assert "only contradicts itself" in text
    assert "only contradicts itself at ε" not in text
    connection.execute(
        "INSERT INTO out_thresholds BY NAME SELECT 'demo' AS study, 'only' AS model_id, "
        "'floor' AS pair_type, 'blend' AS path, 0.02 AS epsilon, 'evidence' AS role_half, "
        "'contradiction' AS role, 'contradiction' AS role_double, false AS is_firm"
    )
    text = report(connection).text
    assert "only contradicts itself at ε = 0.020" in text
    assert "Contradicts itself on floor at ε = 0.020: this change moves" in text
    assert "most of it is contradiction at ε = 0.020, evidence at 0.010;" in text


@pytest.mark.parametrize(("magnitude", "scale"), [(0.03, 0.1), (0.3, 0.5), (None, 0.1)])
def test_bars_that_are_no_probabilities_end_beyond_m(magnitude, scale):
    row = SimpleNamespace(abs_response=0.03, upper_95=0.04, endpoint_magnitude=magnitude)
    assert scale_of('{"kind": "margin"}', [row]) == scale


@pytest.mark.parametrize(
    ("expect", "key"),
    [
        ("unknown", "should_not_matter: {at_most: 0.05}"),
        ("should_matter", "should_matter: {at_least: 0.5}"),
    ],
)
def test_a_report_without_limits_says_once_that_it_does_not_decide(stub, report, expect, key):
    connection = stub(ONE)
    connection.execute(
        "UPDATE core_display_names SET expect = $expect WHERE kind = 'pair_type'",
        {"expect": expect},
    )
    text = report(connection).text
    assert text.count("compares and does not decide") == 1
    assert f'expect: {{"floor": {{{key}}}}}' in text


def test_a_report_with_limits_decides(stub, report):
    connection = stub(ONE)
    connection.execute(LIMIT)
    assert "does not decide" not in report(connection).text


def test_the_question_names_changes_with_an_expectation_first(stub, report):
    pair_types = ("amount", "floor", "income", "owner", "sex")
    connection = stub(Audit(models=("only",), pair_types=pair_types, paths=("blend",)))
    connection.execute(
        "UPDATE core_display_names SET expect = CASE name WHEN 'income' THEN 'should_matter' "
        "WHEN 'sex' THEN 'should_not_matter' WHEN 'floor' THEN 'control' ELSE 'unknown' END"
    )
    assert "how far does a change of income, sex, amount and 2 more move" in report(connection).text
