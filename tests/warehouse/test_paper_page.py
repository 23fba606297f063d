"""The page of Markdown with the paper's tables, of made-up views and of 135 classifiers."""

from xml.etree import ElementTree

import pytest
from covertype_warehouse import MODELS, STUDY, covertype_warehouse
from stub_audit import Audit, insert, open_stub, six_models

from decaf.errors import BadInput, UnknownName, WriteFailed
from warehouse.query.catalog import connect
from warehouse.query.views import View
from warehouse.report.paper import reading
from warehouse.report.paper.page import write_paper_page, write_paper_pages


def page_of(connection, study, folder):
    return write_paper_page(connection, study, folder / "page.md").read_text()


@pytest.fixture
def stub():
    """A study with one table of statistics and one of estimates with intervals."""
    with open_stub(Audit()) as connection:
        data = ("demo", "abc", "e0", 120_000, 48_000, 135, True, "counts are right")
        insert(connection, "paper_covertype_data", [data])
        matched = [
            ("demo", "all", "pairs", 12.0, 11.0, 1.0, None),
            ("demo", "few", "pairs", 1.0, 11.0, -10.0, None),
            ("demo", "all", "coverage", 0.32, 0.29333, 0.02667, None),
            ("demo", "DE|CAF", "accuracy", None, 0.72727, None, "no pair"),
            ("demo", "Abs", "accuracy", 1e-5, None, None, None),
        ]
        insert(connection, "paper_covertype_matched", matched)
        limits = (0.8, 0.9, 0.75, 0.95)
        rho = ("demo", "inversion", "DECAF", 90, 90, 0.85, *limits, 0.98, 0.97, 0.99, -0.13, None)
        none = (None,) * 4
        few = ("demo", "inversion", "M", 1, None, None, *none, *none, "fewer than two entries")
        insert(connection, "paper_covertype_ranks", [rho, few])
        yield connection


@pytest.mark.slow
def test_nothing_of_a_name_is_markup(tmp_path):
    audit = Audit(models=("`<b>|[x](y)&amp;*\\\\",), study="demo", has_paper=True)
    with open_stub(audit) as connection:
        page = page_of(connection, "demo", tmp_path)
    assert r"| \`\<b\>/\[x\](y)\&amp;\*\\\\ |" in page
    assert ": 1 model," in page


def test_every_number_stands_beside_the_papers(stub, tmp_path):
    lines = page_of(stub, "demo", tmp_path).splitlines()
    assert "| Method | Pairs | Coverage | Accuracy |" in lines
    assert "| all | 12 (11, +1) | 0.320 (0.293, +0.027) | – |" in lines
    assert "| few | 1 (11, −10) | – | – |" in lines
    assert "| DE/CAF | – | – | – (0.727)<sup>1</sup> |" in lines
    assert "| Abs | – | – | <0.001 |" in lines
    assert "1. no pair" in lines
    heads = "| Behaviour | Method | Model count | Published count | Ours | 90 % | 95 % "
    assert f"{heads}| Paper | Difference |" in lines
    limits = "[0.800, 0.900] | [0.750, 0.950] | 0.980 [0.970, 0.990]"
    assert f"| inversion | DECAF | 90 | 90 | 0.850 | {limits} | −0.130 |" in lines
    assert "| inversion | M | 1 | – | –<sup>1</sup> | – | – | – | – |" in lines
    assert "1. fewer than two entries" in lines
    assert "**Data.** The paper's: counts are right." in lines
    assert "Fingerprints: pairs `abc`, training `e0`." in lines


def test_budgets_that_differ_are_named_before_any_number(stub, tmp_path):
    share = "share_of_papers_budget"
    rows = [
        ("demo", "DECAF", share, 1.0, 1.0, 0.0, None),
        ("demo", "lime", share, 1 / 3, 1.0, -2 / 3, None),
        ("demo", "lime", "samples", 50.0, None, None, None),
        ("demo", "retraining", share, None, None, None, "none"),
        ("demo", "kernel_shap", share, 0.125, 1.0, -0.875, None),
    ]
    insert(stub, "paper_covertype_budgets", rows)
    page = page_of(stub, "demo", tmp_path)
    said = "**Other budgets than the paper's, as shares of it: lime 0.333, kernel_shap 0.125.**"
    assert page.index(said) < page.index("| Method |")
    assert "| lime | 0.333 (1.000, −0.667) | 50 |" in page
    stub.execute("DELETE FROM paper_covertype_budgets WHERE method IN ('lime', 'kernel_shap')")
    assert "Other budgets" not in page_of(stub, "demo", tmp_path)


def test_what_a_number_is_of_is_remarked(stub, tmp_path):
    rows = [
        ("demo", "forest", "seconds", 2.0, 9.0, -7.0, "one pair of all"),
        ("demo", "forest", "ratio", 3.0, None, None, "one pair of all"),
        ("demo", "forest", "memory", None, None, None, "not measured"),
    ]
    insert(stub, "paper_covertype_costs", rows)
    page = page_of(stub, "demo", tmp_path)
    cells = "2 (9, −7)<sup>1</sup> | 3<sup>1</sup> | –<sup>2</sup>"
    assert f"| forest | {cells} |" in page
    assert "\n\n1. one pair of all\n2. not measured\n\n" in page
    assert "A superscript number is explained below its table." in page


def test_other_data_are_said_to_be_other_data(stub, tmp_path, monkeypatch):
    stub.execute("UPDATE paper_covertype_data SET is_official = false, why = '40 rows'")
    assert "**Data.** Not the paper's (40 rows)" in page_of(stub, "demo", tmp_path)
    stub.execute("DELETE FROM paper_covertype_data")
    with pytest.raises(BadInput, match="study demo has no table of the paper"):
        page_of(stub, "demo", tmp_path)
    stub.execute("CREATE TABLE paper_strange AS FROM paper_covertype_matched")
    strange = View("paper_strange", "paper", "how strange", "one row", (), "section 99", "")
    monkeypatch.setattr(reading, "views", lambda: [strange])
    assert "It is not known whether these are the paper's data" in page_of(stub, "demo", tmp_path)


def test_an_unfinished_run_is_said_to_be_one(stub, tmp_path):
    assert "not finished" not in page_of(stub, "demo", tmp_path)
    stub.execute("UPDATE out_runs SET is_finished = false")
    assert "**The run is not finished**" in page_of(stub, "demo", tmp_path)


def test_a_study_of_images_has_a_page_too(tmp_path):
    audit = six_models()
    calls = (audit.study, "rise", False, False, "forward_per_image", 256.0, 256.0, 0.0, None)
    with open_stub(audit) as connection:
        insert(connection, "paper_imagenet9_calls", [calls])
        page = page_of(connection, audit.study, tmp_path)
    assert "View: `paper_imagenet9_calls`. Its published values hold for any data.\n" in page
    assert "| --- | --- | --- | --: |\n| rise | no | no | 256 (256, 0) |" in page
    limits = "[1.700, 1.780] | [1.690, 1.790]"
    assert (
        f"| mixed_rand | abs_response | blend | patch_a | 1.740 | {limits} | 1.737 | +0.003 |"
        in page
    )


def test_every_study_of_a_warehouse_has_a_page_and_its_numbers(stub, tmp_path):
    write_paper_pages(stub, tmp_path)
    assert {path.name for path in tmp_path.iterdir()} == {"0.md", "0.csv"}
    rows = (tmp_path / "0.csv").read_text().splitlines()[1:]
    assert [row.split(",")[1:5] for row in rows[:2]] == [
        ["data", "", "", "drawn_per_class"],
        ["data", "", "", "rows"],
    ]
    assert (
        ",DECAF,inversion,rank_correlation,demo,3,48000,True,counts are right,0.85,0.75,0.95,"
        in ("\n".join(rows))
    )


def test_what_cannot_be_written(stub, tmp_path):
    with pytest.raises(UnknownName, match="nobody"):
        page_of(stub, "nobody", tmp_path)
    for table in ("matched", "ranks"):
        stub.execute(f"DELETE FROM paper_covertype_{table}")
    with pytest.raises(BadInput, match="no table of the paper"):
        page_of(stub, "demo", tmp_path)
    with pytest.raises(BadInput, match="the warehouse has no table of the paper; expected a study"):
        write_paper_pages(stub, tmp_path)
    assert list(tmp_path.iterdir()) == []


def test_a_folder_that_is_a_file_is_refused(stub, tmp_path):
    (tmp_path / "file").write_text("")
    with pytest.raises(WriteFailed, match="choose another folder"):
        write_paper_page(stub, "demo", tmp_path / "file" / "page.md")


@pytest.mark.slow
def test_the_same_warehouse_gives_the_same_page(tmp_path):
    chosen = [model for model in MODELS if model.seed == 7701 and model.family > "m"]
    root = covertype_warehouse(tmp_path / "warehouse", 12, chosen)
    pages = []
    for threads in (1, 2):
        with connect(root, threads=threads) as connection:
            pages.append(page_of(connection, STUDY, tmp_path))
    assert pages[0] == pages[1]
    assert "30 rows drawn of each cover type, not 120,000" in pages[0]
    assert str(tmp_path) not in pages[0]
    assert "2026" not in pages[0]


def test_pictures_lie_beside_the_page_and_show_what_is_not_listed(stub, tmp_path):
    stub.execute("DELETE FROM paper_covertype_data")
    insert(stub, "paper_contradiction_data", [("demo", "abc", "rendered", 30, 9, False, "few")])
    limits = (None,) * 6
    mixture = [
        ("demo", "invert", "all", eta, metric, eta * 0.75, *limits, None)
        for eta in (0.5, 0.25, 0.0)
        for metric in ("evidence", "contradiction")
    ]
    insert(stub, "paper_contradiction_mixture", mixture)
    page = page_of(stub, "demo", tmp_path)
    caption = "Evidence and contradiction when the wall context is swapped: all models of a task"
    caption += " (the paper's figure 9a, on other data)"
    assert f"## Pictures\n\n![{caption}](page_pictures/figure-9a.svg)\n\n*{caption}.*" in page
    file = tmp_path / "page_pictures" / "figure-9a.svg"
    drawn = file.read_bytes()
    root = ElementTree.fromstring(drawn)
    assert root.get("aria-label") == caption
    assert (root[0].get("fill"), "Arial" in root.get("font-family")) == ("#fff", True)
    assert b"var(" not in drawn
    assert b">Contradiction</text>" in drawn
    assert "The lines of the least and the largest eta, 4 of 6; its view has all." in page
    assert "| invert | all | 0.500 | evidence | 0.375 |" in page
    assert "| invert | all | 0 | evidence |" in page
    assert "| invert | all | 0.250 |" not in page
    file.unlink()
    assert page_of(stub, "demo", tmp_path) == page
    assert file.read_bytes() == drawn
