"""Files that people take to other programs: pages without a network, databases for older DuckDB."""

import re
import struct
from html.parser import HTMLParser
from io import StringIO

import numpy as np
import pytest
from ended_commands import succeeded
from small_warehouse import small_warehouse

import decaf

FETCHED = {"src", "href", "data", "srcset"}


class Addresses(HTMLParser):
    """Addresses that a browser would fetch to show a page."""

    def __init__(self, page):
        super().__init__()
        self.found = []
        self.feed(page)

    def handle_starttag(self, tag, attrs):
        values = [value or "" for name, value in attrs if name in FETCHED and tag != "a"]
        self.found += [value for value in values if not value.startswith("data:")]


@pytest.fixture(scope="module")
def audited():
    rng = np.random.default_rng(0)
    x = rng.normal(size=(4, 2))
    return decaf.audit(lambda rows: rows[:, 0] * rows[:, 1], x, x * [-1, 1], stages=3)


@pytest.mark.parametrize("draw", ["plot", "plot_mean", "changed"])
def test_a_saved_chart_fetches_nothing(draw, audited, tmp_path):
    chart = audited.plot_mean() if draw == "plot_mean" else audited.plot(0)
    if draw == "changed":
        chart = chart.properties(width=300).interactive()
    chart.save(tmp_path / "pair.html")
    page = (tmp_path / "pair.html").read_text()
    assert Addresses(page).found == []
    assert "vegaEmbed" in page
    assert not re.search(r"@import|import\(['\"]https?:", page)
    assert Addresses(chart.to_html()).found == []
    held = StringIO()
    chart.save(held, "html")
    assert Addresses(held.getvalue()).found == []


def test_other_formats_and_pages_from_the_web_are_as_altair_has_them(
    audited, tmp_path, monkeypatch
):
    chart = audited.plot(0)
    for name in ("pair.svg", "pair.png", "pair.json"):
        chart.save(str(tmp_path / name))  # a warning would fail the test
    assert (tmp_path / "pair.svg").read_text().startswith("<svg")
    audited.plot_mean().save(tmp_path / "mean.pdf")
    assert (tmp_path / "mean.pdf").read_bytes().startswith(b"%PDF-")
    chart.save(tmp_path / "pair.html", inline=False)
    assert len(Addresses((tmp_path / "pair.html").read_text()).found) == 3
    monkeypatch.setattr("decaf.library.plots.find_spec", lambda name: None)  # without vl-convert
    chart.save(tmp_path / "pair.html")
    assert len(Addresses((tmp_path / "pair.html").read_text()).found) == 3


@pytest.mark.parametrize("name", ["pair.tex", "pair"])
def test_a_format_that_charts_lack_is_refused(audited, tmp_path, name):
    with pytest.raises(decaf.DecafError, match="expected one of html"):
        audited.plot(0).save(tmp_path / name)


def test_an_exported_database_is_of_the_format_of_duckdb_1(decaf, tmp_path):
    root = small_warehouse(tmp_path / "warehouse")
    succeeded(decaf("export", "results.duckdb", "profiles", "out_models", "-w", root.folder))
    _, magic, number = struct.unpack("<Q4sQ", (tmp_path / "results.duckdb").read_bytes()[:20])
    assert (magic, number) == (b"DUCK", 64)
