"""Parts of the pairs in a report, which sections it has, and when it ranks."""

from typing import get_args

import pytest
from report_reader import Reader
from stub_audit import Audit, insert, many_models

from decaf.plan.presentation import Report, Section
from warehouse.report.page import write_report

ROUTED = ("evidence", "contradiction", "fragility", "abs_response")


def breakdown(model, member, values, study="demo", metrics=ROUTED):
    """A line of the table: a row for each metric, with limits 0.1 around its mean."""
    where = (study, model, "floor", "blend", "class", member)
    return [
        (*where, metric, 40, 20, value, value - 0.1, value + 0.1, 0.0, value, 2 * value, None)
        for metric, value in zip(metrics, values, strict=True)
    ]


def test_parts_of_the_pairs_stand_worst_first(stub, report):
    connection = stub(Audit(models=("a", "b"), pair_types=("floor",), paths=("blend",)))
    lines = {
        ("a", "fish"): (0.5, 0.25, 0.125, 0.875),
        ("a", "dog"): (0.5, 0.0, 0.0, 0.5),
        ("b", "dog"): (0.25, 0.25, 0.125, 0.625),
    }
    for line, values in lines.items():
        insert(connection, "out_breakdowns", breakdown(*line, values))

    def found():
        reader = report(connection)
        assert "floor, by class" in reader.text
        return [row for row in reader.rows if len(row) > 1 and row[1] in ("fish", "dog")]

    rows = found()
    assert [row[:2] for row in rows] == [["a", "fish"], ["b", "dog"], ["a", "dog"]]
    assert rows[0][2:] == [
        "0.500 [0.400, 0.600]",
        "0.250 [0.150, 0.350]",
        "0.125 [0.025, 0.225]",
        "0.875 [0.775, 0.975]",
        "0.875 0 … 1.750",
        "40",
    ]
    # What should matter is worst where it does least.
    connection.execute("UPDATE core_display_names SET expect = 'should_matter'")
    assert [row[:2] for row in found()] == [["a", "dog"], ["b", "dog"], ["a", "fish"]]


def test_parts_show_final_difference_active_share_and_accuracy(stub, report):
    connection = stub(Audit(models=("a",), pair_types=("floor",), paths=("blend",)))
    metrics = ("endpoint_delta", "active_frac", "accuracy", "endpoint_magnitude", "abs_response")
    values = (-0.05, 0.25, 0.5, 0.125, 0.375)
    insert(connection, "out_breakdowns", breakdown("a", "fish", values, metrics=metrics))
    (row,) = [row for row in report(connection).rows if row[1:2] == ["fish"]]
    assert row[2:6] == [
        "50 % [40 %, 60 %]",
        "−0.050 [−0.150, +0.050]",
        "25 % [15 %, 35 %]",
        "0.125 [0.025, 0.225]",
    ]


def test_parts_and_shares_are_on_the_path_with_the_largest_response(stub, report):
    models = ("a", "b", "c")
    connection = stub(Audit(models=models, pair_types=("floor",), paths=("blend", "patch_a")))
    connection.execute(
        "UPDATE out_model_profiles SET abs_response = CASE "
        "WHEN path = 'blend' THEN 0.25 WHEN model_id = 'c' THEN 0.125 ELSE 0.5 END, "
        "fragility_frac = CASE WHEN path = 'blend' THEN 0.75 WHEN model_id = 'c' THEN 0.875 "
        "WHEN model_id = 'a' THEN 0.25 ELSE 0.5 END"
    )
    for member, values in (("fish", (0.5, 0.0, 0.0, 0.5)), ("dog", (0.25, 0.0, 0.0, 0.25))):
        rows = breakdown("a", member, values)
        insert(connection, "out_breakdowns", [(*row[:3], "patch_a", *row[4:]) for row in rows])
    reader = report(connection)
    (shares,) = [row for row in reader.rows if row[:1] == ["floor"] and "model" in row[1]]
    assert shares[1] == "patch_a (2 models), blend (1 model)"
    assert shares[-1] == "25 % – 75 % highest: c"
    assert ["a patch_a", "fish"] in [row[:2] for row in reader.rows]
    assert "a differs most between groups of floor on path patch_a: 0.250 for dog" in reader.text


@pytest.mark.parametrize(("fish", "dog"), [(0.0, 0.0), (0.0001, 0.0002)])
def test_no_model_is_named_if_no_response_differs_between_groups(stub, report, fish, dog):
    connection = stub(Audit(models=("a",), pair_types=("floor",), paths=("blend",)))
    for member, response in (("fish", fish), ("dog", dog)):
        insert(connection, "out_breakdowns", breakdown("a", member, (0.0, 0.0, 0.0, response)))
    reader = report(connection)
    assert ["a", "fish"] in [row[:2] for row in reader.rows]
    assert "differs most between" not in reader.text


def test_means_of_roles_have_the_bound_of_the_stages(stub, report):
    connection = stub(Audit(models=("a",), pair_types=("floor",), paths=("blend",)))
    place = ("demo", "a", "floor", "blend")
    limits = {
        "evidence": (-0.004, 0.001),
        "abs_response": (0.002, 0.025),
        "fragility": (None, None),
    }
    rows = [(*place, metric, 9, 20, 0.0, *bounds, 0.0) for metric, bounds in limits.items()]
    insert(connection, "out_stage_errors", rows)
    cells = {cell.partition("stages ±")[2] for row in report(connection).rows for cell in row}
    assert cells == {"", "0.004", "0.025"}


def test_of_many_parts_every_model_has_its_worst(stub, report):
    models = tuple(f"m{number:02}" for number in range(30))
    connection = stub(Audit(models=models, pair_types=("floor",), paths=("blend",)))
    rows = [
        row
        for place, model in enumerate(models)
        for member in range(3)
        for row in breakdown(model, f"class{member}", (0.0, 0.0, 0.0, place + member / 10))
    ]
    insert(connection, "out_breakdowns", rows)
    shown = [row[:2] for row in report(connection).rows if len(row) > 1 and "class" in row[1]]
    assert len(shown) == 40
    assert {model for model, _ in shown} == set(models)
    assert shown[:3] == [["m29", "class2"], ["m29", "class1"], ["m28", "class2"]]


def test_pairs_that_nothing_divides_have_no_such_section(stub, report):
    assert "breakdowns" not in report(stub(Audit())).ids


def test_chosen_sections_stand_in_their_order_and_open(stub, tmp_path):
    connection = stub(Audit())

    def sections(chosen):
        write_report(connection, "demo", tmp_path / "r", sections=chosen)
        reader = Reader((tmp_path / "r").read_text())
        folded = reader.page.count('<details class="section">')
        return [name for name in reader.ids if name in get_args(Section)], folded

    usual = [
        name
        for name in get_args(Section)
        if name not in ("pairs", "breakdowns", "registry", "stops", "paper")
    ]
    assert sections(None) == (usual, 7)
    assert sections(("costs", "profiles", "registry")) == (["costs", "profiles"], 0)


def test_a_section_that_there_is_not_is_refused():
    assert Report(sections=("costs",)).sections == ("costs",)
    with pytest.raises(ValueError, match="breakdowns"):
        Report(sections=("profile",))


@pytest.mark.parametrize(("count", "written"), [(4, "–"), (5, "+0.500")])
def test_ranks_need_five_models(stub, report, count, written):
    reader = report(stub(many_models(count, paths=("blend", "patch_a"))))
    (row,) = [
        row
        for row in reader.rows
        if row[:2] == ["mixed_rand", "blend → patch_a"] and "×" not in row[3]
    ]
    assert row[-1] == written
    assert ("fewer than 5 models" in reader.text) == (count < 5)
