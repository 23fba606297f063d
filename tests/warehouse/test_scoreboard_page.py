"""The scoreboard of made-up result pages, and files that are none."""

import re
from pathlib import Path

import pytest
from accessibility import assert_accessible, resize

from decaf.errors import BadInput, WriteFailed
from warehouse.report.paper.comparisons import SCHEMA
from warehouse.report.paper.scoreboard import read_scoreboard, write_scoreboard

ROOT = Path(__file__).parents[2]
HEAD = ",".join(SCHEMA.names)
ROWS = """
attribution,funnybirds,decaf_5,,spearman,birds,2,200,False,200 images,0.39,0.3,0.45,
attribution,funnybirds,decaf_9,,spearman,birds,2,200,False,200 images,-0.1,-0.2,-0.05,
attribution,funnybirds,ig_32,,spearman,birds,2,200,False,200 images,,,,not scored
imagenet9,,rise,,forward_per_image,<b>|photos,14,90,True,holds for any data,256,,,
"""
SHOWN = (
    "return [...document.querySelectorAll('tbody.numbers .badge')]"
    ".filter(badge => badge.checkVisibility()).map(badge => badge.textContent)"
)
"""Verdicts of the numbers that are shown."""
SVG = '<svg xmlns="http://www.w3.org/2000/svg"/>'


@pytest.fixture
def results(tmp_path):
    """A folder with one page's numbers and a picture beside it."""
    folder = tmp_path / "results"
    (folder / "birds_pictures").mkdir(parents=True)
    (folder / "birds.csv").write_text(HEAD + ROWS)
    (folder / "birds_pictures" / "figure-7.svg").write_text(SVG)
    return folder


def test_every_number_has_one_row_and_a_word(results, tmp_path):
    board = read_scoreboard([results])
    keys = [(row.paper, row.unit, row.method, row.part, row.statistic) for row in board.rows]
    assert len(set(keys)) == len(keys) == 504
    assert len(board.panels) == 27
    tallies = board.tallies
    assert tallies["reproduced"] == (1, 0, 1, 1)
    assert tallies["different"] == (1, 0, 0, 0)
    assert sum(tally.total for tally in tallies.values()) == len(keys)
    page = write_scoreboard(board, tmp_path / "index.md", has_pages=True).read_text()
    assert "| reproduced | 1 |  | 1 | 2 | 1 | within the stated interval |" in page
    assert "| [birds](results/birds.md) | 2 | other: 200 images |" in page
    assert (
        "| table 3, table 6 | funnybirds, decaf_5 | Spearman | 0.403 [0.385, 0.422] "
        "| 0.390 [0.300, 0.450] | −0.013 | reproduced | [birds](results/birds.md) |  |" in page
    )
    assert "| 0.271 [0.251, 0.290] | – | – | not run |  | not scored |" in page
    assert r"[\<b\>/photos](results/birds.md)" in page
    assert "[picture](results/birds_pictures/figure-7.svg); both panels in one picture |" in page
    assert "| 2a | Population-level reliance | not drawn; no page here has its picture |" in page


def test_a_page_of_html_is_one_file_that_loads_nothing(results, tmp_path):
    board = read_scoreboard([results])
    page = write_scoreboard(board, tmp_path / "board.html", has_pages=False).read_text()
    assert page.count("<img") == 2, "both panels of figure 7"
    assert not re.search(r'(?:src|href)="(?!data:)', page)
    assert "<script" not in page
    assert "&lt;b&gt;|photos" in page
    assert page.count('class="of-') == len(board.rows)
    with pytest.raises(WriteFailed, match="choose another folder"):
        write_scoreboard(board, results / "birds.csv" / "board.html", has_pages=True)


@pytest.mark.parametrize("width", [1200, 360])
def test_a_page_of_html_is_accessible_and_filters_by_verdict(results, tmp_path, browser, width):
    page = write_scoreboard(read_scoreboard([results]), tmp_path / "board.html", has_pages=False)
    resize(browser, width, 900)
    browser.get(page.as_uri())
    assert_accessible(browser)
    assert browser.execute_script(SHOWN) == [], "tables are folded at first"
    browser.find_element("css selector", "label[for=v-reproduced]").click()
    assert browser.execute_script(SHOWN) == ["✓ reproduced"] * 2


def test_the_scoreboard_of_the_paper_is_a_page_of_at_most_12000_px(tmp_path, browser):
    board = read_scoreboard([ROOT / "docs" / "results"])
    page = write_scoreboard(board, tmp_path / "board.html", has_pages=False)
    resize(browser, 1200, 900)
    browser.get(page.as_uri())
    assert browser.execute_script("return document.documentElement.scrollHeight") <= 12_000


def test_a_folder_counts_beside_another(results, tmp_path):
    other = tmp_path / "other"
    other.mkdir()
    official = "attribution,funnybirds,decaf_9,,spearman,more,3,500,True,as many,0.4,0.39,0.42,\n"
    (other / "more.csv").write_text(f"{HEAD}\n{official}")
    board = read_scoreboard([results, other])
    assert board.tallies["reproduced"] == (2, 0, 1, 2)
    assert [row.study for row in board.studies] == ["<b>|photos", "birds", "more"]


def test_of_as_many_models_the_larger_sample_counts(results):
    row = "attribution,funnybirds,decaf_5,,spearman,{},2,{},False,{} images,{},,,\n"
    rows = [row.format("a_few", 40, 40, 0.5), row.format("more", 300, 300, 0.6)]
    (results / "sizes.csv").write_text(f"{HEAD}\n{''.join(rows)}")
    row = next(row for row in read_scoreboard([results]).rows if row.method == "decaf_5")
    assert (row.study, row.estimate) == ("more", 0.6)


def test_a_value_that_the_paper_reads_as_no_effect_has_no_side(results):
    rows = [
        f"covertype,,{method},inversion,rank_correlation,c,135,9,False,other,{estimate},,,\n"
        for method, estimate in {"shap_interaction": 0.692, "native_shap": -0.343}.items()
    ]
    (results / "table.csv").write_text(f"{HEAD}\n{''.join(rows)}")
    verdicts = {
        row.method: row.verdict for row in read_scoreboard([results]).rows if row.study == "c"
    }
    assert verdicts == {"shap_interaction": "different", "native_shap": "same direction"}


@pytest.mark.parametrize(
    ("text", "words"),
    [
        (None, "has no result page with its numbers; expected a folder that decaf results"),
        ("", "Empty CSV file; expected a file that decaf results writes"),
        ("a,b\n1,2\n", "has the columns a, b; expected paper, unit"),
        (f"{HEAD},more\n", "has the columns paper, unit"),
        (f"{HEAD}\nfew,cells\n", "expected a file that decaf results writes"),
        (f"{HEAD}\n{ROWS.splitlines()[1].replace('0.39', 'much')}\n", "conversion error to double"),
        (f"{HEAD}\n{ROWS.splitlines()[1].replace('False', 'perhaps')}\n", "conversion error"),
        ("\x00\x01", "expected"),
    ],
)
def test_what_is_no_result_page_is_refused_by_name(tmp_path, text, words):
    if text is not None:
        (tmp_path / "page.csv").write_text(text)
    with pytest.raises(BadInput) as refusal:
        read_scoreboard([tmp_path])
    assert words in str(refusal.value)
    assert str(tmp_path) in str(refusal.value)
