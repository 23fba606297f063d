"""The report's pictures of the paper: of which figure, what is drawn, and what is marked."""

import itertools
import re

import pytest
from stub_audit import Audit, insert, many_models, six_models

from warehouse.report.audit.facts import read_facts
from warehouse.report.audit.figures import NAMES
from warehouse.report.paper import benchmark_figures, curve_figures, protocol_figures
from warehouse.report.paper.reading import read_paper
from warehouse.report.svg import svg_element

SIX, MANY = six_models(), many_models(3)


def test_pictures_show_every_order_component_and_epsilon(stub):
    connection = stub(MANY)
    paper = read_paper(connection, MANY.study)
    profiles = read_facts(connection, MANY.study).profiles
    protocol = protocol_figures.protocol_pictures(paper)
    # Rank transfer is undefined here, so that there is nothing to draw.
    assert [picture.title.partition(":")[0] for picture in protocol] == ["mixed_same", "mixed_rand"]
    for name in ("Patch order A", "Patch order B", "Evidence", "Fragility", ">1.74<"):
        assert name in protocol[0].svg
    orders = protocol_figures.order_pictures(paper, profiles)
    assert len(orders) == 2
    for metric in ("evidence", "contradiction", "fragility", "abs_response"):
        assert orders[0].svg.count(f'fill="var(--{metric},') == 3
    assert "mean response, score units" in orders[0].svg
    thresholds = protocol_figures.threshold_pictures(paper)
    shares, ratios, *others = thresholds
    assert len(others) == 2, "the other pair type"
    for name in ("0.01", "0.05", "50 % active"):
        assert name in shares.svg
    assert shares.svg.count('fill="var(--evidence,') == 3 * 3 + 1, "and the legend"
    assert ratios.svg.count('fill="var(--evidence,') == 2 * 3 + 1, "the blend has no ratio"
    for name in ("0.01", "0.05", "Patch order A", "Patch order B", "ratio to the blend"):
        assert name in ratios.svg


LIMITS = (0.85, 0.95, 0.84, 0.96)


@pytest.fixture
def filled(stub):
    """Rows of every table of the benchmark: two methods, one of them undefined for fragility."""
    connection, study = stub(SIX), SIX.study
    numbers = (0.9, *LIMITS, None, None, None)
    missing = (*[None] * 7, "no positive unit")
    compared = (0.9, *LIMITS, 0.93, 0.9 - 0.93, None)
    undefined = {("M", "fragility"): missing}
    semantics = [
        (study, method, label, "auroc", *undefined.get((method, label), compared))
        for method in ("DECAF", "M")
        for label in ("evidence", "fragility")
    ]
    insert(connection, "paper_imagenet9_semantics", semantics)
    roles = [
        (study, "DECAF", "role_accuracy", *numbers),
        (study, "all", "pairs", 69.0, *[None] * 7),
    ]
    insert(connection, "paper_imagenet9_roles", roles)
    bins = [
        (study, method, part, "auroc", *(missing if part == "bin 02" else numbers))
        for method in ("DECAF", "Abs")
        for part in ("bin 01", "bin 02", "bin 10", "common support")
    ]
    insert(connection, "paper_imagenet9_bins", bins)
    families = [
        (study, name, probe, label, 3, 3, *numbers)
        for name in ("decaf", "spatial")
        for probe in ("logistic_regression", "gradient_boosting")
        for label in ("evidence", "macro")
    ]
    insert(connection, "paper_imagenet9_families", families)
    calls = [
        (study, "rise", False, False, "forward_per_image", 256.0, 256.0, 0.0, None),
        (study, "occlusion", False, False, "forward_per_image", 50.0, 49.0, 1.0, "and the image"),
        (study, "smooth_grad", True, False, "backward_per_image", 16.0, 16.0, 0.0, None),
    ]
    insert(connection, "paper_imagenet9_calls", calls)
    return connection


@pytest.mark.slow
def test_the_benchmark_has_a_picture_of_every_figure(filled, report):
    paper = read_paper(filled, SIX.study)
    reader = report(filled)
    pictures = benchmark_figures.benchmark_pictures(paper)
    semantics, roles, bins, families, calls = (picture.svg for picture in pictures)
    assert semantics.count(">0.90<") == 3, "the undefined one is not drawn"
    assert "macro" not in semantics, "nor is a panel without a value"
    assert ("role named" in roles, "units ranked" in roles, ">69<" in roles) == (True, False, False)
    assert (">1<" in bins, ">10<" in bins, ">2<" in bins) == (True, True, False)
    for name in ("logistic regression", "gradient boosting", "Spatial attribution"):
        assert name in families
    assert ">256<" in calls
    for picture in pictures:
        assert picture.title in reader.text


MARK = 'fill="var(--paper, #fff)" stroke="var(--ink, #1c2430)"'
HOLLOW = "Hollow diamonds are the paper's values."


@pytest.mark.parametrize("is_official", [True, False])
def test_values_of_the_paper_are_marked_and_other_data_are_named(filled, report, is_official):
    """What a method takes of a model does not depend on the photos."""
    filled.execute("UPDATE paper_imagenet9_data SET is_official = ?", [is_official])
    paper = read_paper(filled, SIX.study)
    profiles = read_facts(filled, SIX.study).profiles
    reader = report(filled)
    semantics, roles, bins, families, calls = benchmark_figures.benchmark_pictures(paper)
    (protocol, *_) = protocol_figures.protocol_pictures(paper)
    orders = protocol_figures.order_pictures(paper, profiles)
    (thresholds, *_) = protocol_figures.threshold_pictures(paper)
    known = "" if is_official else ", on other data"
    for picture, figure, count in (
        (semantics, "figure 3a", 3),
        (roles, "figure 3b", 0),
        (bins, "figure 3c", 0),
        (families, "figure 10", 0),
        (protocol, "figure 4a", 1),
        (thresholds, "figure 11b", 0),
    ):
        assert picture.svg.count(MARK) == count, figure
        assert (">on other data<" in picture.svg) == (not is_official)
        assert (HOLLOW in picture.note) == (picture.svg.count(MARK) > 0)
        assert picture.title.endswith(f"(the paper's {figure}{known})")
        assert picture.title in reader.text
    assert orders == [], "there is one order"
    assert (calls.svg.count(MARK), calls.note) == (3, HOLLOW)
    assert calls.title.endswith("(the paper's table 1)")
    assert ["rise", "no", "no", "256 paper 256, 0", "–"] in reader.rows
    assert ["occlusion", "no", "no", "50 paper 49, +1; and the image", "–"] in reader.rows
    assert ["smooth_grad", "yes", "no", "–", "16 paper 16, 0"] in reader.rows
    assert "View: paper_imagenet9_calls. Its published values hold for any data." in reader.text
    assert HOLLOW in reader.text


@pytest.mark.slow
def test_the_official_benchmark_is_not_the_official_scan(filled, report):
    official = "UPDATE paper_imagenet9_data SET is_official = true, subject = 'benchmark'"
    filled.execute(official)
    paper = read_paper(filled, SIX.study)
    reader = report(filled)
    assert MARK in benchmark_figures.benchmark_pictures(paper)[0].svg
    protocol = protocol_figures.protocol_pictures(paper)[0]
    assert protocol.title.endswith("(the paper's figure 4a, on other data)")
    assert ">on other data<" in protocol.svg
    assert any(row[-2:] == ["1.737 not comparable", "+0.003"] for row in reader.rows)
    assert any(row[-2:] == ["0.930", "−0.030"] for row in reader.rows)


def test_values_are_written_above_their_intervals(stub):
    """On a rim: the dashed line at 1, or the next bar's interval, would cross the digits."""
    audit = many_models(2, ("blend", "patch_a", "patch_b", "patch_c", "patch_d"))
    rows = read_paper(stub(audit), audit.study).table("paper_imagenet9_protocol")
    own = [row for row in rows if row.keys["pair_type"] == "mixed_rand"]
    rows = [row for row in own if row.keys["metric"] in NAMES]
    svg = svg_element(protocol_figures.metric_bars(rows, "x", 1.0), "bars")
    written = re.findall(
        r'<text[^>]*translate\(([\d.]+),(-?[\d.]+)\)[^>]*order="stroke">1\.74<', svg
    )
    assert len(written) == 16
    limits = re.findall(
        r'<line transform="translate\(([\d.]+),([\d.]+)\)" x2="0" y2="(-[\d.]+)"', svg
    )
    tops = {float(x): float(y) + float(height) for x, y, height in limits}
    for x, y in written:
        assert float(y) + 5 < tops[float(x)], "digits end above the interval"
    places = sorted({float(x) for x, _ in written})
    assert min(b - a for a, b in itertools.pairwise(places)) > 40, "they have room"


def test_a_picture_says_that_nothing_is_known_of_the_data(stub):
    paper = read_paper(stub(SIX), SIX.study)
    paper = paper._replace(data=None)
    picture = protocol_figures.protocol_pictures(paper)[0]
    assert "figure 4a, on unknown data)" in picture.title
    assert ">on unknown data<" in picture.svg


@pytest.mark.slow
def test_a_line_stands_where_bins_cannot_be_drawn(filled, report):
    filled.execute("UPDATE paper_imagenet9_bins SET estimate = NULL")
    paper = read_paper(filled, SIX.study)
    reader = report(filled)
    bins = benchmark_figures.benchmark_pictures(paper)[2]
    assert (bins.svg, "figure 3c" in bins.title) == ("", True)
    assert f"{bins.title} {bins.note}" in reader.text
    assert bins.note == "Not drawn: no bin has all three behaviours, present and absent."


def test_a_study_without_a_benchmark_has_no_picture_of_one(stub):
    paper = read_paper(stub(SIX), SIX.study)
    assert benchmark_figures.benchmark_pictures(paper) == []


@pytest.mark.parametrize("is_official", [True, False])
def test_curves_go_along_a_column_with_a_panel_for_each_task(stub, report, is_official):
    connection, study = stub(Audit()), "demo"
    data = [(study, "abc", "rendered", 30, 9, is_official, "counted")]
    insert(connection, "paper_contradiction_data", data)
    published = (0.5, -0.1)
    mixture = [
        (study, task, family, eta, statistic, eta * 0.8, *LIMITS)
        + ((*published, None) if eta == 0.5 and task == "invert" else (None, None, None))
        for task in ("direct", "invert")
        for family in ("all", "resnet18")
        for eta in (0.5, 0.25, 0.0)
        for statistic in ("evidence", "contradiction", "net_response")
    ]
    insert(connection, "paper_contradiction_mixture", mixture)
    calibration = [
        (study, "resnet18", seed, wall_map, eta, "opposed_fraction", eta, None, None)
        for seed in ("7101", "7102")
        for wall_map in (1, 2)
        for eta in (0.5, 0.0)
    ]
    insert(connection, "paper_contradiction_calibration", calibration)
    reader = report(connection)
    paper = read_paper(connection, study)
    known = "" if is_official else ", on other data"
    tasks, changes, shares = curve_figures.curve_pictures(paper)
    assert tasks.title.endswith(f": all models of a task (the paper's figure 9a{known})")
    for name in ("Direct", "Invert", "Evidence", "Contradiction", "swapped context"):
        assert name in tasks.svg
    assert "Gate" not in tasks.svg, "a panel without a value"
    assert "Sign-change share" not in changes.svg, "a series without a value"
    assert "Net response" not in tasks.svg
    for metric in ("evidence", "contradiction"):
        lines = re.findall(rf'stroke="var\(--{metric}, #\w+\)" stroke-width="1.8"', tasks.svg)
        assert len(lines) == 2, "one line in each panel: that of all families"
    assert tasks.svg.count(MARK) == 2
    assert "Bands are 95 % intervals of a bootstrap over models." in tasks.note
    assert HOLLOW in tasks.note
    assert shares.svg.count('stroke-width="1.8"') == 2 * 2, "seeds and wall maps"
    assert shares.svg.count("stroke-dasharray") == 1, "the diagonal"
    assert "Wall map 2" in shares.svg
    assert "ResNet-18" in shares.svg
    (half,) = benchmark_figures.benchmark_pictures(paper)
    assert half.svg.count(">0.500<") >= 4
    for picture in (tasks, shares, half):
        assert picture.title in reader.text


def test_curves_without_a_value_are_not_drawn(stub):
    connection = stub(Audit())
    insert(connection, "paper_contradiction_data", [("demo", "a", "x", 1, 1, False, "few")])
    row = ("demo", "direct", "all", 0.5, "evidence", *[None] * 7, "not scored")
    insert(connection, "paper_contradiction_mixture", [row])
    assert curve_figures.curve_pictures(read_paper(connection, "demo")) == []


def test_no_two_lines_look_the_same(stub):
    """Nine epochs on two panels."""
    connection = stub(Audit())
    insert(connection, "paper_evidence_data", [("demo", "a", "x", 1, 1, False, "few")])
    rows = [
        ("demo", "training", epoch, t, statistic, t * epoch, None, None)
        for epoch in range(1, 10)
        for t in (0.0, 0.5, 1.0)
        for statistic in ("wall_evidence", "shape_evidence")
    ]
    insert(connection, "paper_evidence_stages", rows)
    (picture,) = curve_figures.curve_pictures(read_paper(connection, "demo"))
    lines = re.findall(r"<path[^>]*stroke-width=\"1.8\"[^>]*>", picture.svg)
    looks = [tuple(re.findall(r'stroke(?:-dasharray)?="([^"]+)"', line)) for line in lines]
    assert len(looks) == 2 * 9
    assert len(set(looks)) == 9, "the same in both panels, and never twice in one"
    assert len({look[0] for look in looks}) == 9, "a shade each"
    assert not re.search("evidence|contradiction|fragility", picture.svg), "colours mean roles"
    assert "Epoch 9" in picture.svg


def test_an_axis_is_no_narrower_than_what_is_written(stub):
    """Halves that differ from the seventh decimal on, written with three."""
    connection = stub(Audit())
    insert(connection, "paper_contradiction_data", [("demo", "a", "x", 1, 1, False, "few")])
    rows = [
        ("demo", "resnet18", str(seed), 1, 0.5, "opposed_fraction", 0.5 + seed * 1e-7, None, None)
        for seed in range(3)
    ]
    insert(connection, "paper_contradiction_calibration", rows)
    (picture,) = benchmark_figures.benchmark_pictures(read_paper(connection, "demo"))
    ticks = {float(text) for text in re.findall(r">(0\.\d+)<", picture.svg)}
    assert 0.015 <= max(ticks) - min(ticks) <= 0.02
