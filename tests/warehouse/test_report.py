"""The report: its content, its limits, and that nothing in it can reach out or break out."""

import re
from collections import namedtuple
from xml.etree import ElementTree

import pytest
from report_reader import SECTIONS, Reader
from stub_audit import RUN_ID, Audit, insert, insert_named, many_models, open_stub, six_models

from decaf.errors import UnknownName, WriteFailed
from warehouse.report import cells, page
from warehouse.report.audit import figures
from warehouse.report.page import write_report


@pytest.fixture(scope="module")
def six(tmp_path_factory):
    audit = six_models()
    with open_stub(audit) as connection:
        path = tmp_path_factory.mktemp("six") / "r.html"
        write_report(connection, audit.study, path, has_paper=True)
    return path.read_text()


def test_digests_are_shortened():
    assert cells.digest("0123456789abcdef") == cells.Cell("0123456789ab…", hover="0123456789abcdef")
    assert cells.digest("none") == cells.Cell("none", hover="none")


def test_a_study_cannot_leave_its_literal():
    assert cells.runnable("WHERE study = $study", "a' OR 'b") == "WHERE study = 'a'' OR ''b'"


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ('{"kind": "class_probability"}', "class probability"),
        ('{"kind": "margin", "of": "y", "map": null}', "margin (of y)"),
        ('{"kind": "margin", "map": "' + "0," * 99 + '"}', "margin"),
        ("[1, 2]", "[1, 2]"),
        ("logit of the true class", "logit of the true class"),
    ],
)
def test_score_definition(text, words):
    assert page.score_definition(text) == words


def test_the_target_has_its_name(stub, report):
    connection = stub(Audit(models=("only",), has_rows=False))
    score = '{"kind": "class_probability", "classes": 2, "target": 1}'
    connection.execute("UPDATE out_runs SET score = $score", {"score": score})
    assert "class probability (classes 2, target 1)" in report(connection).text
    names = ((RUN_ID, 0, "no"), (RUN_ID, 1, "yes"), ("older", 1, "other"))
    for run_id, class_id, name in names:
        row = {"run_id": run_id, "class_id": class_id, "name": name}
        insert_named(connection, "stg_class_names", row)
    assert "class probability (classes 2, target yes)" in report(connection).text


def test_numbers_of_one_model(stub, report):
    audit = Audit(models=("only",), pair_types=("floor",), paths=("blend",), has_rows=False)
    where = ("demo", "only", "floor", "blend")
    connection = stub(audit)
    shares = (0.2, 0.5, 0.25, 0.25)
    row = ("demo", "only", "net", 0, "floor", "blend", 1234, 0.75, -0.15, 0.35, 0.2, 0.1, 0.1, 0.4)
    insert(connection, "out_model_profiles", [row + shares])
    bounds = (0.11, 0.29, 0.1004, 0.2996)
    rest = (*bounds, 617, 500)
    intervals = [(*where, "evidence", 0.2, 0.05, *rest)]
    intervals.append((*where, "endpoint_delta", -0.15, 0.05, -0.25, -0.1, -0.26, -0.05, 617, 500))
    insert(connection, "out_model_intervals", intervals)
    reader = report(connection)
    shown = [
        "only",
        "0.200 [0.100, 0.300]",
        "0.100",
        "0.100",
        "0.400",
        "0.350",
        "−0.150 [−0.260, −0.050]",
        "75 %",
        "1,234",
    ]
    assert shown in reader.rows
    assert ["floor", "blend", "75 %", "25 %", "25 %"] in reader.rows
    assert "500 replicates" in reader.text
    assert "This study has one path, blend" in reader.text


def test_content_of_a_finished_audit(six):
    reader = Reader(six)
    assert [name for name in reader.ids if name in SECTIONS] == list(SECTIONS)
    run = ("imagenet9-backgrounds", "finished 2026-11-20 11:42 UTC", "7fa3c1d2e5b84960")
    score = "superclass probability (class map in_to_in9.json, classes 9)"
    warnings = ("near_threshold", "2 of 24 planned blocks are not committed.")
    titles = ("mixed_rand · blend", "mixed_same · patch_a", "Ratio of means", "Rank transfer")
    for words in (*run, score, *warnings, *titles):
        assert words in reader.text
    assert ["mixed_rand", "original", "mixed_rand", "20", "10"] in reader.rows
    transfer = ["+0.900", "+0.800", "+0.700", "+0.600", "+0.500"]
    assert ["mixed_rand", "blend → patch_a", "6", *transfer] in reader.rows
    assert "gone" not in reader.text
    assert any(
        row[:2] == ["mixed_same", "patch_a"] and "this run: 0.020" in row for row in reader.rows
    )
    total = next(row for row in reader.rows if row[0] == "All models")
    assert total[1:5] == ["24", "240", "7,425", "12,960"]
    assert total[5] == "42.7 %"


def test_the_verdict_comes_first_and_names_eight_models(stub, report):
    connection = stub(many_models(72, paths=("blend",)))
    connection.execute("UPDATE core_display_names SET expect = 'should_not_matter'")
    connection.execute(
        "UPDATE out_model_profiles SET abs_response = abs_response / 100 WHERE position > 0"
    )
    reader = report(connection)
    headline = "Of 72 models, 1 leans on mixed_rand, 71 respond to nothing that was changed"
    said = [
        "Leans on mixed_rand, which should not matter: this change moves the score by ",
        "And 64 more models",
        "How far to trust this",
        "Details",
        "All numbers",
        "Cost of each model",
    ]
    behind_links = reader.text.index("evidence: towards d")
    places = [reader.text.index(words, behind_links) for words in said]
    assert reader.text.index(headline) < behind_links
    assert places == sorted(places)
    assert reader.text.count("Responds to no change by 0.010 or more: ") == 7
    nothing = reader.text[reader.text.index("Responds to no change") :]
    assert "evidence" not in nothing[: nothing.index("; the final")], "no share of nothing"


@pytest.mark.parametrize(("count", "who"), [(2, "Both"), (3, "All 3")])
def test_what_all_models_do_is_said_of_all(count, who, stub, report):
    connection = stub(many_models(count, paths=("blend",)))
    connection.execute("UPDATE core_display_names SET expect = 'should_not_matter'")
    connection.execute("UPDATE out_model_profiles SET abs_response = 0")
    assert f"{who} models respond to nothing that was changed" in report(connection).text


def test_a_model_that_responds_only_to_a_control_is_named_as_that(stub, report):
    connection = stub(many_models(1, paths=("blend",)))
    connection.execute(
        "UPDATE core_display_names "
        "SET expect = if(name = 'mixed_rand', 'control', 'should_not_matter')"
    )
    connection.execute(
        "UPDATE out_model_profiles SET abs_response = 0 WHERE pair_type <> 'mixed_rand'"
    )
    text = report(connection).text
    assert "responds to nothing but a control" in text
    assert "except the control mixed_rand" in text


def test_only_aggregates_leave_the_warehouse(six):
    assert "mixed_same-3" not in six
    assert "/home" not in six


def test_nothing_in_the_file_points_outside(six):
    assert set(re.findall(r"https?:[^\"'\s<>)]*", six)) == {"http://www.w3.org/2000/svg"}
    assert not re.search(r"url\((?!#)|@import|srcset|<iframe|<object|<embed", six)
    reader = Reader(six)
    assert not {"img", "iframe", "object"} & set(reader.tags)
    assert re.findall(r'(?:src|href)="([^#"][^"]*)"', six) == ["data:,"]


def test_ids_are_unique(six):
    reader = Reader(six)
    assert len(reader.ids) == len(set(reader.ids))


def test_every_printed_query_runs_and_lists_every_model(stub, six):
    queries = Reader(six).queries
    connection = stub(six_models())
    row_counts = [
        len(connection.sql(statement).fetchall())
        for query in queries
        for statement in query.split(";")
    ]
    assert len(queries) == 10 + 4  # four tables of the paper
    assert all(row_counts)


@pytest.mark.parametrize(
    "name", ["<script>alert('x')</script>", 'a "b" & <c>', "</svg></style>", 'x opacity="0" y']
)
def test_names_are_text_and_never_markup(stub, report, name):
    audit = Audit(models=(name, "other"), paths=(name, "plain"), pair_types=(name,), study=name)
    reader = report(stub(audit))
    assert reader.tags.count("script") == 1, "that of the tables"
    assert "c" not in reader.tags
    assert re.sub(r"\s+", " ", name) in reader.text
    assert any(row and row[0].startswith(name) for row in reader.rows)
    svg = re.findall(r"<svg.*?</svg>", reader.page, re.DOTALL)
    assert len(svg) == 3
    assert all(name in "".join(ElementTree.fromstring(picture).itertext()) for picture in svg)


def test_a_run_without_rows_says_so(stub, report):
    reader = report(stub(Audit(has_rows=False, is_finished=False)))
    assert "still running: 0 of 12 blocks" in reader.text
    assert [name for name in reader.ids if name in SECTIONS] == list(SECTIONS)
    assert reader.text.count("Nothing has been committed yet") == 5
    assert "There are no labels or no class predictions" in reader.text
    assert "svg" not in reader.tags


def test_a_run_under_way_shows_what_it_has(stub, report):
    reader = report(stub(Audit(is_finished=False)))
    assert "still running: 3 of 12 blocks" in reader.text
    assert "This run is not finished" in reader.text
    assert "Nothing has been committed yet" not in reader.text


def test_a_run_whose_models_failed_says_why(stub, report):
    audit = Audit(is_finished=False)
    connection, model = stub(audit), audit.models[1]
    connection.execute(
        "INSERT INTO out_warnings SELECT ?, ?, 'failed', NULL, 'failed: no head'",
        [audit.study, model],
    )
    reader = report(connection)
    assert "1 of 3 models failed; 3 of 12 blocks are scored" in reader.text
    assert f"{model} failed: no head" in reader.text
    assert "still running" not in reader.text


def test_scored_but_not_routed_yet(stub, report):
    connection = stub(Audit(is_finished=False))
    for view in ("profiles", "intervals"):
        connection.execute(f"DELETE FROM out_model_{view}")
    for view in ("path_ratios", "rank_transfer"):
        connection.execute(f"DELETE FROM out_{view}")
    reader = report(connection)
    assert reader.text.count("Nothing has been committed yet") == 3
    assert "svg" not in reader.tags


def test_models_that_never_respond(stub, report):
    connection = stub(Audit())
    zeros = "evidence = 0, contradiction = 0, fragility = 0"
    connection.execute(
        f"UPDATE out_model_profiles SET {zeros}, abs_response = 0, endpoint_magnitude = 0,"
        "contradiction_frac = NULL, fragility_frac = NULL"
    )
    connection.execute(f"UPDATE out_mean_trajectories SET {zeros}")
    connection.execute("UPDATE out_path_ratios SET mean_a = 0, mean_b = 0, ratio = NULL")
    reader = report(connection)
    assert any(row[:2] == ["mixed_same", "blend"] and row[3:] == ["–", "–"] for row in reader.rows)
    assert ["mixed_same", "blend → patch_a", "3", *["– 0 → 0"] * 5] in reader.rows


def test_a_path_that_one_pair_type_lacks(stub, report):
    connection = stub(Audit())
    connection.execute(
        "DELETE FROM out_model_profiles WHERE pair_type = 'mixed_same' AND path = 'patch_a'"
    )
    reader = report(connection)
    assert "mixed_same · blend" in reader.text
    assert "mixed_same · patch_a" not in reader.text


def test_one_model_has_no_rank_transfer_and_the_reason_is_given(stub, report):
    reader = report(stub(Audit(models=("only",))))
    assert "undefined: fewer than two models." in reader.text
    assert ["mixed_same", "blend → patch_a", "1", *["–"] * 5] in reader.rows
    assert not any(row[0] == "All models" for row in reader.rows)


def test_without_predictions_and_warnings(stub, report):
    reader = report(stub(Audit(has_predictions=False)))
    assert "There are no labels or no class predictions, so no accuracy is shown." in reader.text
    assert "No trajectory is quarantined." in reader.text
    assert "!" not in reader.words


@pytest.mark.slow
def test_seventy_two_models_fit(stub, report):
    reader = report(stub(many_models(72)))
    assert len(reader.page.encode()) < page.MAX_BYTES == 2_000_000
    assert reader.text.count("The 12 of 72 models with the largest contradiction.") == 2
    assert sum(row[0] == "vit_variant_068.fb_in22k_ft_in1k" for row in reader.rows) == 6
    assert "To stay small" not in reader.text


@pytest.mark.slow
def test_a_page_that_is_too_large_leaves_out_models(stub, report, monkeypatch):
    monkeypatch.setattr(page, "MAX_BYTES", 200_000)
    reader = report(stub(many_models(24, paths=("blend", "patch_a"))))
    assert len(reader.page.encode()) <= 200_000
    shown = int(re.search(r"first (\d+) of 24 models", reader.text)[1])
    profiles = [row for row in reader.rows if len(row) == 9 and "_variant_" in row[0]]
    assert len(profiles) == 4 * shown
    assert any(row[:3] == ["mixed_same", "blend → patch_a", "24"] for row in reader.rows)
    assert any(row[:3] == ["All models", "96", "960"] for row in reader.rows)


@pytest.mark.slow
def test_a_page_that_can_never_fit_is_refused(stub, tmp_path, monkeypatch):
    monkeypatch.setattr(page, "MAX_BYTES", 5_000)
    connection = stub(Audit())
    with pytest.raises(WriteFailed, match="at most 5,000"):
        write_report(connection, "demo", tmp_path / "r.html")
    assert list(tmp_path.iterdir()) == []


def test_an_unknown_study_is_named_with_the_nearest(stub, tmp_path):
    connection = stub(Audit())
    with pytest.raises(UnknownName, match="mean 'demo'"):
        write_report(connection, "dmeo", tmp_path / "r.html")


def test_the_file_is_replaced_whole(stub, tmp_path):
    target = tmp_path / "deep" / "r.html"
    connection = stub(Audit())
    write_report(connection, "demo", target)
    target.write_text("old")
    write_report(connection, "demo", target)
    text = target.read_text()
    assert text.startswith("<!DOCTYPE html>")
    assert "Tables of the paper" not in text  # unless they are asked for
    assert list(target.parent.iterdir()) == [target]


def test_a_folder_that_cannot_be_written(stub, tmp_path):
    (tmp_path / "file").write_text("")
    connection = stub(Audit())
    with pytest.raises(WriteFailed, match="choose another"):
        write_report(connection, "demo", tmp_path / "file" / "r.html")


def test_bar_lengths_are_the_components():
    row_type = namedtuple("Row", ["model_id", "path", *figures.COMPONENTS])
    row = row_type("m", "blend", evidence=0.2, contradiction=0.1, fragility=0.05)
    svg = figures.profile_bars([row], ["blend"], largest=0.35)
    lengths = {}
    for metric in figures.COMPONENTS:
        bar = re.search(rf'<path d="M[^"]*?h([\d.]+)[^"]*" fill="var\(--{metric},', svg)
        bar = bar or re.search(rf'fill="var\(--{metric},[^>]*? d="M[^"]*?h([\d.]+)', svg)
        lengths[metric] = float(bar[1])
    assert lengths["evidence"] == pytest.approx(2 * lengths["contradiction"], rel=0.01)
    assert lengths["evidence"] == pytest.approx(4 * lengths["fragility"], rel=0.01)
    assert ">0.350</" in svg


def test_sources_are_counted_over_all_pairs_and_weights_are_mentioned(stub, report):
    connection = stub(Audit(models=("only",), pair_types=("floor", "wall"), paths=("blend",)))
    plain = report(connection).text
    assert "10 sources" in plain
    assert "weighted" not in plain
    connection.execute(
        "UPDATE core_pairs SET source_id = 'wall ' || source_id, weight = 2.5 "
        "WHERE pair_type = 'wall'"
    )
    weighted = report(connection).text
    assert "20 sources" in weighted
    assert "from 1 to 2.5;" in weighted
