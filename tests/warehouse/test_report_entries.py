"""The report's pictures of many entries: points with their correlation, cells, stacked parts."""

import itertools
import re

import pytest
from stub_audit import insert, six_models

from warehouse.report.paper import benchmark_figures, entry_figures, marks
from warehouse.report.paper.reading import read_paper
from warehouse.report.paper.scatter_figures import SCATTER_SIDE, place_names

SIX = six_models()
STUDY = SIX.study
MARK = marks.MARK
COLOURED = re.compile(r'fill="var\(--(evidence|contradiction|fragility),')


@pytest.fixture
def base(stub):
    """Rows of the base suite: two models of two tasks with a supported and a null factor."""
    connection = stub(SIX)
    counts = (STUDY, "d" * 64, "rendered", 2, 8, False, "images by decaf's renderer")
    insert(connection, "paper_base_data", [counts])
    shares = {"shape": (0.5, 0.25, 0.25), "floor_hue": (0.0, 0.0, 1.0)}
    atlas = [
        (STUDY, task, factor, family, 1, "null", False, statistic, value, None, None, None)
        for task in ("object_shape", "object_color")
        for factor, parts in shares.items()
        for family in ("resnet18", "small_vit")
        for statistic, value in (
            ("abs_response", 0.75),
            *zip(("evidence_share", "contradiction_share", "fragility_share"), parts, strict=True),
        )
    ]
    insert(connection, "paper_base_atlas", atlas)
    limits = (0.02, 0.06, 0.01, 0.07)
    overview = [
        (STUDY, "alpha", factor, metric, value, *limits, None, None, None)
        for factor, parts in shares.items()
        for metric, value in zip(
            ("evidence", "contradiction", "fragility", "abs_response"), (*parts, 1.0), strict=True
        )
    ]
    insert(connection, "paper_base_overview", overview)
    rates = [
        (STUDY, method, 2, 4, "false_null_rate", rate, *limits, rate, 0.0, None)
        for method, rate in (("Abs-CMMR", 0.0625), ("Align-CMMR", 0.0))
    ]
    insert(connection, "paper_base_false_null", rates)
    return connection


@pytest.fixture
def evidence(stub):
    """Two trainings of three checkpoints; one has measured nothing at its last."""
    connection = stub(SIX)
    counts = (STUDY, "d" * 64, "rendered", 2, 8, False, "images by decaf's renderer")
    insert(connection, "paper_evidence_data", [counts])
    measured = {
        "a": ((0.1, 1.0), (0.2, 4.0), (0.3, 3.0)),
        "b": ((0.4, 2.0), (0.9, 5.0), (None, 6.0)),
    }
    rows = [
        (STUDY, name, f"family {name}", 0.95, 1, 10 * place, place, statistic, value, None, None)
        for name, checkpoints in measured.items()
        for place, values in enumerate(checkpoints, 1)
        for statistic, value in zip(("vulnerability", "evidence_margin"), values, strict=True)
    ]
    insert(connection, "paper_evidence_checkpoints", rows)
    return connection


def test_a_stacked_bar_has_the_papers_value_of_abs(base):
    base.execute(
        "UPDATE paper_base_overview SET published = 0.05 "
        "WHERE metric = 'abs_response' AND factor = 'shape'"
    )
    overview, _ = entry_figures.entry_pictures(read_paper(base, STUDY))
    assert overview.svg.count(MARK) == 1
    assert overview.note == "Hollow diamonds are the paper's values."
    assert len(COLOURED.findall(overview.svg)) == 2 * 3 + 3, "Abs itself is no part of a bar"


def test_an_axis_reaches_the_papers_values(base):
    """Ours are 0 as written; the paper's 0.25 is in the picture."""
    base.execute("UPDATE paper_base_false_null SET estimate = 0, lower_95 = 0, upper_95 = 0")
    base.execute("UPDATE paper_base_false_null SET published = 0.25 WHERE method = 'Abs-CMMR'")
    (rates,) = benchmark_figures.benchmark_pictures(read_paper(base, STUDY))
    ticks = {float(text) for text in re.findall(r">(\d\.\d+)<", rates.svg)}
    assert max(ticks) >= 0.2
    assert rates.svg.count(MARK) == 2


def test_a_value_is_written_beyond_the_papers_mark_that_would_cover_it(base):
    """At a width of 830 px for 1: digits take 36 px, or 0.043."""
    rows = {"Abs-CMMR": (0.5, 0.52), "Align-CMMR": (0.5, 0.9), "M": (0.0, 1.0)}
    base.execute("DELETE FROM paper_base_false_null")
    insert(
        base,
        "paper_base_false_null",
        [
            (STUDY, method, 2, 4, "false_null_rate", rate, *[None] * 4, paper, None, None)
            for method, (rate, paper) in rows.items()
        ],
    )
    (rates,) = benchmark_figures.benchmark_pictures(read_paper(base, STUDY))
    written = re.findall(r'translate\(([\d.]+),[\d.]+\)"[^>]*>0\.500<', rates.svg)
    beyond, beside = sorted(map(float, written), reverse=True)
    assert beyond - beside == pytest.approx(0.02 * 814, abs=2)


@pytest.mark.slow
def test_stacked_bars_have_three_parts_an_entry_and_a_panel_a_task(base, report):
    paper = read_paper(base, STUDY)
    overview, atlas = entry_figures.entry_pictures(paper)
    assert len(COLOURED.findall(overview.svg)) == 2 * 3 + 3, "a bar for each factor, and a legend"
    assert len(COLOURED.findall(atlas.svg)) == 2 * 2 * 2 * 3 + 3
    assert re.findall(r">(object \w+|wall \w+)<", atlas.svg) == ["object colour", "object shape"]
    assert "over alpha" in overview.svg
    assert "information" not in overview.svg, "a panel without rows is left out"
    assert "(the paper's figure 5a, on other data)" in overview.title
    assert "(the paper's figure 6, on other data)" in atlas.title
    assert (MARK in overview.svg, MARK in atlas.svg) == (False, False)
    (rates,) = benchmark_figures.benchmark_pictures(paper)
    assert (">0.063<" in rates.svg, ">0.000<" in rates.svg) == (True, True)
    reader = report(base)
    for picture in (overview, atlas, rates):
        assert picture.title in reader.text


def test_points_have_their_correlation_and_cells_their_values(evidence, report):
    scatter, cells = entry_figures.entry_pictures(read_paper(evidence, STUDY))
    # Ranks 1 2 3 4 5 and 1 4 3 2 5: rho = 1 - 6 (4 + 4) / 120.
    assert "ρ = 0.600, 5 points" in scatter.svg
    for name in ("family a", "family b", "0.95", "accuracy lost when the walls are reversed"):
        assert name in scatter.svg
    assert "(the paper's figure 2a, on other data)" in scatter.title
    assert scatter.note == "ρ is the rank correlation of the points."
    assert cells.title.endswith("(the paper's figure 7, on other data)")
    written = re.findall(r">(\d\.\d\d)<", cells.svg)
    values = ["0.10", "0.20", "0.30", "0.40", "0.90", "1.00", "4.00", "3.00", "2.00", "5.00"]
    bar = ["6.00", "5.25", "4.50", "3.75", "3.00", "2.25", "1.50", "0.75", "0.00"]
    assert sorted(written) == sorted([*values, "6.00", *bar])
    opacities = re.findall(r'fill-opacity="([\d.]+)"', cells.svg)
    assert opacities.count("0.4") == 2, "one scale: a cell and the bar"
    assert not COLOURED.search(scatter.svg + cells.svg), "colours mean roles"
    assert "black" not in scatter.svg, "unseen on a dark page"
    assert "family a 0.95 1" in cells.svg
    assert cells.svg.count(">epoch 10<") == 4, "two trainings in two panels"
    reader = report(evidence)
    assert scatter.title in reader.text
    assert cells.title in reader.text


def test_cells_below_zero_have_a_dashed_rim(evidence):
    evidence.execute("UPDATE paper_evidence_checkpoints SET estimate = estimate - 2")
    _, cells = entry_figures.entry_pictures(read_paper(evidence, STUDY))
    rims = cells.svg.count('stroke-dasharray="3,2"')
    assert rims == 5 + 1 + 4, "vulnerabilities, a margin of 1, and half of the bar"
    assert {">4.00<", ">0.00<", ">−4.00<"} <= set(re.findall(r">−?\d\.\d\d<", cells.svg))


def test_a_correlation_of_a_view_has_its_interval(evidence):
    limits = (0.3, 0.9, 0.25, 0.95)
    row = (STUDY, "pooled", "evidence_margin", "rank_correlation", 0.6, *limits, 0.936, None, None)
    insert(evidence, "paper_evidence_correlations", [row])
    scatter, _ = entry_figures.entry_pictures(read_paper(evidence, STUDY))
    assert "ρ = 0.600 [0.250, 0.950]; paper 0.936" in scatter.svg


def test_a_point_has_the_papers_value_where_both_lie_at_one_place(evidence):
    """The paper's margin at a vulnerability of 0.2; that at 0.4 is at another place."""
    for training, checkpoint, published_place in (("a", 2, 0.2), ("b", 1, 0.3)):
        evidence.execute(
            "UPDATE paper_evidence_checkpoints SET published = "
            "if(statistic = 'vulnerability', ?, 2.5) WHERE trajectory = ? AND checkpoint = ?",
            [published_place, training, checkpoint],
        )
    scatter, _ = entry_figures.entry_pictures(read_paper(evidence, STUDY))
    assert scatter.svg.count(MARK) == 1
    assert scatter.note.endswith("Hollow diamonds are the paper's values.")


def test_models_outside_the_gates_are_hollow(stub):
    connection = stub(SIX)
    counts = (STUDY, "d" * 64, "rendered", 2, 8, False, "images by decaf's renderer")
    insert(connection, "paper_fragility_data", [counts])
    rows = [
        (
            STUDY,
            f"m{place}",
            "resnet18",
            "robust",
            place > 0,
            statistic,
            place / 4,
            None,
            None,
            None,
        )
        for place in range(3)
        for statistic in ("fragility", "null_prediction_change_rate")
    ]
    insert(connection, "paper_fragility_models", rows)
    limits = (0.2, 0.9, 0.1, 0.95)
    correlations = [
        (STUDY, models, "null_prediction_change_rate", count, rho, *limits, None, None)
        for models, count, rho in (("all", 3, 0.5), ("within the gates", 2, 1.0))
    ]
    insert(connection, "paper_fragility_correlations", correlations)
    (scatter,) = entry_figures.entry_pictures(read_paper(connection, STUDY))
    points = re.findall(r'<path[^>]*fill="var\(--paper, #fff\)"[^>]*>', scatter.svg)
    assert len(points) == 1
    for text in ("ρ = 0.500 [0.100, 0.950], all", "ρ = 1.000 [0.100, 0.950], within the gates"):
        assert text in scatter.svg


def named_points(*points):
    return [{"x": x, "y": y, "colour": name, "published": None} for x, y, name in points]


def chosen_places(values):
    return place_names(values, lambda x: x, lambda y: y)


def test_names_beside_points_cover_nothing():
    """Twelve methods at one place, as on a page of birds: names stand further away."""
    values = named_points(*((120 + place % 3, 150 + place, "method") for place in range(12)))
    places = chosen_places(values)
    boxes = [
        place.box(value["x"], SCATTER_SIDE - value["y"], value["colour"])
        for place, value in zip(places, values, strict=True)
    ]
    for one, other in itertools.combinations(boxes, 2):
        assert one[2] <= other[0] or other[2] <= one[0] or one[3] <= other[1] or other[3] <= one[1]
    apart = named_points((0, 10, "left"), (200, 10, "right"))
    assert [place.side for place in chosen_places(apart)] == ["right", "right"]


def test_names_keep_away_from_the_papers_marks_and_from_the_axis():
    """A name of 34 px has no room left of a point, nor above one, that is 5 px from the axis."""
    near_axis = named_points((5, 100, "a name"), (15, 100, "b"))
    left, *_ = chosen_places(near_axis)[0].box(5, SCATTER_SIDE - 100, "a name")
    assert left >= 0
    # Neighbours on the right and left, and the paper's mark 11 px below: above is free.
    crowd = named_points((100, 110, "name"), (115, 110, "x"), (85, 110, "x"))
    crowd[0]["published"] = 99
    assert chosen_places(crowd)[0].side == "above"
    crowd[0]["published"] = 120
    assert chosen_places(crowd)[0].side == "below"


def test_many_kinds_of_points_have_their_names_beside_them(evidence):
    """And a scale of powers, where places along reach far."""
    evidence.execute(
        "UPDATE paper_evidence_checkpoints SET family = format('{} {}', family, checkpoint), "
        "estimate = if(statistic = 'vulnerability', 8 ^ checkpoint, estimate)"
    )
    scatter, _ = entry_figures.entry_pictures(read_paper(evidence, STUDY))
    for name in ("family a 1", "family a 3", "family b 2", "family b 3"):
        assert scatter.svg.count(f">{name}<") == 1
    assert not COLOURED.search(scatter.svg)
    assert re.findall(r">(10|100|200)<", scatter.svg) == ["10", "100"]


def test_a_constant_side_has_no_correlation(evidence):
    evidence.execute(
        "UPDATE paper_evidence_checkpoints SET estimate = 0.5 WHERE statistic = 'vulnerability'"
    )
    scatter, _ = entry_figures.entry_pictures(read_paper(evidence, STUDY))
    assert "ρ" not in scatter.svg


def test_a_table_without_numbers_has_no_picture(evidence):
    evidence.execute("UPDATE paper_evidence_checkpoints SET estimate = NULL")
    assert entry_figures.entry_pictures(read_paper(evidence, STUDY)) == []


def test_no_two_kinds_of_points_look_the_same(evidence):
    """Five families at two shares: colour and shape say which, and the legend names each once."""
    evidence.execute("DELETE FROM paper_evidence_checkpoints")
    kinds = [(f"family {name}", shortcut) for name in "abcde" for shortcut in (0.5, 0.95)]
    rows = [
        (STUDY, f"{family} {shortcut}", family, shortcut, 1, 1, 1, statistic, place, None, None)
        for place, (family, shortcut) in enumerate(kinds)
        for statistic in ("vulnerability", "evidence_margin")
    ]
    insert(evidence, "paper_evidence_checkpoints", rows)
    scatter, _ = entry_figures.entry_pictures(read_paper(evidence, STUDY))
    points = re.findall(r'<path[^>]* opacity="0.8"[^>]*>', scatter.svg)
    looks = [re.findall(r' (?:d|fill)="([^"]+)"', point) for point in points]
    assert len({tuple(look) for look in looks}) == 2 * len(kinds), "larger ones in the legend"
    for family, shortcut in kinds:
        assert scatter.svg.count(f">{family} {shortcut}<") == 1
