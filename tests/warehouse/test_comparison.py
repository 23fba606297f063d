"""Two runs on one page, from the same warehouse and from two."""

import re
from collections import namedtuple

import pytest
from report_reader import Reader
from scenes_warehouse import EARLIER, EPSILON, MODELS, STUDY

from decaf.errors import UnknownName
from warehouse.query import catalog
from warehouse.report.audit.verdict_rows import select_drawn
from warehouse.report.both_runs import draw_both_runs
from warehouse.report.comparison import (
    Change,
    Line,
    control_lines,
    headline,
    read_side,
    run_named,
    write_comparison,
)
from warehouse.report.sides import write_sides


def line(model, *changes):
    return Line(
        model, "wall_hue", "blend", dict(zip(("evidence", "fragility"), changes, strict=False))
    )


def test_the_headline_names_what_moved_most():
    still = Change(0.5, 0.5, (-0.1, 0.1), False)
    fell, rose = Change(0.5, 0.25, (-0.3, -0.2), True), Change(0.125, 0.25, (0.1, 0.15), True)
    unsure = Change(0.1, 0.9, (-0.1, 1.7), False)
    assert headline([], {}) == "The two runs have nothing in common that could be compared"
    assert headline([line("a", still, unsure)], {}) == "Nothing moved by more than chance"
    lines = [line("a", rose, unsure), line("b", still, fell), line("c", still)]
    said = "2 of 3 models changed, most of all b: fragility on wall colour 0.500 → 0.250"
    assert headline(lines, {"wall_hue": "wall colour"}) == said


@pytest.fixture(scope="module")
def here(scenes):
    """A warehouse in which an earlier run had a higher epsilon."""
    with catalog.connect(scenes) as connection:
        yield connection


def test_two_runs_are_paired(here, tmp_path):
    before = read_side(here, STUDY, "w", run_named(here, STUDY, "ear"))
    now = read_side(here, STUDY, "w")
    named = now._replace(names=now.names | {"blend": "fading in"})
    assert (before.run.run_id, now.run.run_id) == ("earlier", "r")
    assert (before.run.epsilon, now.run.epsilon) == (EARLIER, EPSILON)
    assert before.means != now.means
    assert read_side(here, STUDY, "w") == now, "views speak of the newest run again"
    page = write_comparison(tmp_path / "r.html", STUDY, before, named, here)
    reader = Reader(page.read_text())
    expected = here.sql(
        "SELECT DISTINCT model_id, pair_type, path FROM run_diff('earlier', 'r')"
    ).fetchall()
    moved = [row for row in reader.rows if len(row) == 7 and "→" in row[-1]]
    assert len(moved) == len(expected) == 8
    assert {row[2] for row in moved} == {"fading in" if p == "blend" else p for *_, p in expected}
    assert {row[-1].partition(" ")[0] for row in moved} == {"0"}, "Abs is not gated"
    assert any(row[3].startswith("+") for row in moved), "less is fragility, more is evidence"
    assert ["route", "epsilon", "2", ", ".join(MODELS)] in reader.rows
    for query in reader.queries:
        assert here.sql(query).fetchall()


def cards_of(page):
    """Cards of a page, by the model and the pair that their address names."""
    cards = re.findall(r'<article class="card change.*?</article>', page, re.DOTALL)
    return {re.search(r'data-origin="([^"]*)"', card).group(1): card for card in cards}


def test_the_pairs_that_moved_most_are_drawn_before_and_now(here, tmp_path):
    sides = [read_side(here, STUDY, "w", run) for run in ("earlier", None)]
    page = write_comparison(tmp_path / "r.html", STUDY, *sides, here).read_text()
    cards = cards_of(page)
    # At a higher epsilon all of a response is fragility; no other role can change.
    address, fragility, role = here.execute(
        "SELECT model_id || '/' || pair_id || '/' || path, fragility_a, role_b "
        "FROM run_diff_pairs('earlier', 'r') WHERE role_a <> role_b "
        "ORDER BY fragility_a DESC LIMIT 1"
    ).fetchone()
    assert f"fragility → {role}" in cards[address]
    before = '<b>before</b><b class="letter fragility" aria-hidden="true">F</b>'
    assert f"{before}<b>{fragility:.3f}" in cards[address]
    for address, card in cards.items():
        model, pair, path = address.split("/")
        assert model in MODELS
        unchanged = here.execute(
            "SELECT role_a = role_b FROM run_diff_pairs('earlier', 'r') "
            "WHERE model_id = $m AND pair_id = $p AND path = $w",
            {"m": model, "p": pair, "w": path},
        ).fetchone()
        assert unchanged == (False,)
        assert "below the threshold of 0.300" in card, "each run has its own threshold"
    assert not cards_of(write_comparison(tmp_path / "s.html", STUDY, *sides, None).read_text())
    same = write_comparison(tmp_path / "t.html", STUDY, sides[1], sides[1], here).read_text()
    assert not cards_of(same), "nothing changed"


def test_a_change_stands_beside_that_of_the_control(here, tmp_path):
    before, now = read_side(here, STUDY, "w", "earlier"), read_side(here, STUDY, "w")
    plain = write_comparison(tmp_path / "r.html", STUDY, before, now, here)
    assert "Control" not in Reader(plain.read_text()).text
    with_control = now._replace(expect=now.expect | {"shape": "control"})
    page = write_comparison(tmp_path / "s.html", STUDY, before, with_control, here)
    rows = [row for row in Reader(page.read_text()).rows if len(row) == 8 and "→" in row[6]]
    abs_of = {(row[0], row[2]): row[6] for row in rows if row[1] == "shape"}
    for row in rows:
        assert row[7] == ("–" if row[1] == "shape" else abs_of[row[0], row[2]])


def test_of_several_controls_the_one_counts_that_moved_most():
    def moved(pair_type, path, now):
        return Line("m", pair_type, path, {"abs_response": Change(0.5, now, None, False)})

    lines = [moved("floor", "blend", 0.25), moved("sky", "blend", 0.625), moved("wall", "blend", 1)]
    expect = {"floor": "control", "sky": "control", "wall": "should_not_matter"}
    assert control_lines(lines, expect) == {("m", "blend"): lines[0]}


def test_another_warehouse_stands_beside_it_unpaired(here, tmp_path):
    side = read_side(here, STUDY, "there")
    page = write_comparison(tmp_path / "r.html", STUDY, side, side, None)
    reader = Reader(page.read_text())
    assert "Nothing moved by more than chance" in reader.text
    assert "not paired" in reader.text
    assert "of there" in reader.text
    assert len([row for row in reader.rows if len(row) == 7 and "→" in row[-1]]) == 8
    titles = re.findall(r"<h3>(.+?)</h3>", reader.page)
    assert sorted(titles) == sorted(f"{m}, {word}" for m in MODELS for word in ("before", "now"))
    assert [title.rpartition(", ")[2] for title in titles] == ["before", "now"] * len(MODELS)


MEAN = namedtuple(
    "Mean", ("model_id", "pair_type", "path", "metric", "estimate", "lower_95", "upper_95")
)


def means(pair_type, path, *values):
    """E, C, F and Abs of model m, with limits 0.125 around each."""
    metrics = ("evidence", "contradiction", "fragility", "abs_response")
    return tuple(
        MEAN("m", pair_type, path, metric, value, value - 0.125, value + 0.125)
        for metric, value in zip(metrics, values, strict=True)
    )


def test_bars_of_both_runs_have_the_larger_path_and_no_control():
    before = means("wall", "blend", 0.25, 0.0, 0.25, 0.5) + means("wall", "patch", 0.75, 0, 0, 0.75)
    now = means("shape", "blend", 0.5, 0.0, 0.0, 0.5) + means("floor", "blend", 0.0, 0.0, 0.0, 0.0)
    names = {"wall": "wall colour", "patch": "patch by patch", "m": "Net"}
    expect = {"shape": "should_matter", "floor": "control", "wall": "should_not_matter"}
    runs = [("before", before, {"m": "Leans on wall: by 0.75."}), ("now", now, {})]
    both = draw_both_runs(["m"], runs, expect, names, '{"kind": "class_probability"}')
    assert [heading.name for heading in both.headings] == ["wall colour", "shape"]
    assert [finding.model for finding in both.findings] == ["Net, before", "Net, now"]
    assert [finding.lead for finding in both.findings] == ["Leans on wall: ", ""]
    (wall, no_shape), (no_wall, shape) = (finding.responses for finding in both.findings)
    assert (no_shape, no_wall) == (None, None)
    assert (wall.path, wall.other_paths) == ("patch by patch", (("blend", 0.5),))
    assert (wall.row.evidence, wall.row.abs_response, wall.row.upper_95) == (0.75, 0.75, 0.875)
    assert (shape.path, shape.other_paths, shape.row.abs_response) == ("", (), 0.5)
    assert (both.scale, both.has_paths, both.model_count) == (1.0, True, 1)


def test_the_pair_type_of_a_finding_has_a_bar():
    assert select_drawn(["a", "b", "c", "d", "e"], ["e", "none", "e"]) == ["a", "b", "e"]
    assert select_drawn(["a", "b"], []) == ["a", "b"]


def test_several_runs_stand_side_by_side(here, tmp_path):
    before = read_side(here, STUDY, "w", run_named(here, STUDY, "ear"))
    now = read_side(here, STUDY, "w")
    alone = now._replace(means=tuple(row for row in now.means if row.model_id == MODELS[0]))
    sides = {"ear": before, "../there": alone}
    named = now._replace(names=now.names | {"blend": "fading in"})
    reader = Reader(write_sides(tmp_path / "r.html", STUDY, sides, named).read_text())
    evidence = [
        {row[:3]: row.estimate for row in side.means if row.metric == "evidence"}
        for side in (before, now)
    ]
    apart = {key: abs(evidence[0][key] - evidence[1][key]) for key in evidence[1]}
    rows = [row for row in reader.rows if len(row) == 6 and row[0] in MODELS]
    assert len(rows) == 4 * len(apart), "a table for each metric, evidence first"
    first = rows[: len(apart)]
    assert "fading in" in {row[2] for row in first}
    found = [abs(float(row[3].split()[0]) - float(row[5].split()[0])) for row in first]
    assert found == pytest.approx(sorted(apart.values(), reverse=True), abs=2e-3)
    assert [row[4] == "–" for row in first] == [row[0] != MODELS[0] for row in first]
    assert not any("*" in row[5] for row in rows), "a star is on what differs from the newest run"
    assert "Furthest apart is" in reader.text
    assert "run earlier of w" in reader.text


@pytest.mark.parametrize(
    ("name", "words"), [("r", "known: earlier"), ("7", "known: earlier"), ("erlier", "earlier")]
)
def test_runs_that_there_are_not(here, name, words):
    with pytest.raises(UnknownName, match=words):
        run_named(here, STUDY, name)
