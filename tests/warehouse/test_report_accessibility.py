"""Pages of the report by the rules of WCAG 2 A and AA (axe-core), and in print."""

from pathlib import Path

import pytest
from scenes_warehouse import STUDY, scenes_warehouse
from stub_audit import insert, many_models, open_stub, six_models
from test_report_browser import resize
from test_report_parts import breakdown
from test_report_registry import fill, fill_changed

from warehouse.query import catalog
from warehouse.report.comparison import read_side, run_named, write_comparison
from warehouse.report.page import write_report
from warehouse.report.sides import write_sides

AXE = Path(__file__).parents[1] / "third_party" / "axe" / "axe.min.js"
OPENED = "for (const fold of document.querySelectorAll('details')) fold.open = true;"
JUDGED = """const done = arguments[0];
axe.run(document, {runOnly: ['wcag2a', 'wcag2aa']}).then(found => done(
  [found.passes.length, found.violations.map(
    one => [one.id, one.nodes.map(node => node.html.slice(0, 120))])]));"""
TOO_WIDE = "const page = document.documentElement; return page.scrollWidth - page.clientWidth;"


@pytest.fixture(scope="module")
def pages(tmp_path_factory):
    """A report with failed gates and parts of the pairs, one of many models, and a comparison."""
    folder, six = tmp_path_factory.mktemp("pages"), six_models()
    many = many_models(72, paths=("blend",))
    with open_stub(six) as connection:
        fill(connection, six.study)
        fill_changed(connection, six.study)
        rows = breakdown("resnet18.tv_in1k", "fish", (0.5, 0.25, 0.125, 0.875), study=six.study)
        insert(connection, "out_breakdowns", rows)
        failed = folder / "failed.html"
        write_report(connection, six.study, failed, has_paper=True)
    with open_stub(many) as connection:
        registry = folder / "many.html"
        write_report(connection, many.study, registry)
    with catalog.connect(scenes_warehouse(folder / "w")) as runs:
        earlier = read_side(runs, STUDY, "w", run_named(runs, STUDY, "ear"))
        now = read_side(runs, STUDY, "w")
        two = write_comparison(folder / "two.html", STUDY, earlier, now, runs)
        several = write_sides(
            folder / "several.html", STUDY, {"1": earlier, "/warehouses/of/the_last_year": now}, now
        )
    return {"failed": failed, "many": registry, "two": two, "several": several}


@pytest.mark.parametrize(
    ("name", "width", "scheme"),
    [
        ("failed", 1200, "light"),
        ("failed", 360, "dark"),
        ("many", 1200, "light"),
        ("two", 1200, "dark"),
        ("several", 360, "light"),
    ],
)
def test_no_rule_of_wcag_is_broken(browser, pages, name, width, scheme):
    features = [{"name": "prefers-color-scheme", "value": scheme}]
    browser.execute_cdp_cmd("Emulation.setEmulatedMedia", {"media": "", "features": features})
    resize(browser, width, 900)
    browser.get(pages[name].as_uri())
    browser.execute_script(OPENED + AXE.read_text())
    passed, violations = browser.execute_async_script(JUDGED)
    assert violations == []
    assert passed > 10
    assert browser.execute_script(TOO_WIDE) <= 0


def test_axe_would_find_a_fault(browser, pages, tmp_path):
    page = tmp_path / "faulty.html"
    page.write_text(pages["two"].read_text().replace('lang="en"', "", 1))
    browser.get(page.as_uri())
    browser.execute_script(AXE.read_text())
    assert [rule for rule, _ in browser.execute_async_script(JUDGED)[1]] == ["html-has-lang"]


TABLES = """const tables = [...document.querySelectorAll('table')];
return [tables.filter(e => !e.checkVisibility()).length, tables
  .filter(e => e.getBoundingClientRect().right > innerWidth + 1).map(e => e.tHead.innerText)];"""


def test_print_unfolds_all_and_cuts_nothing(browser, pages):
    """On A4 upright, with margins of 1 cm."""
    resize(browser, 718, 1000)
    browser.get(pages["failed"].as_uri())
    assert browser.execute_script(TABLES)[0] > 0, "some are folded on the screen"
    for name in ("failed", "two", "several"):
        browser.get(pages[name].as_uri())
        browser.execute_cdp_cmd("Emulation.setEmulatedMedia", {"media": "print", "features": []})
        printed = browser.execute_script(TABLES)
        browser.execute_cdp_cmd("Emulation.setEmulatedMedia", {"media": "", "features": []})
        assert printed == [0, []]


def test_pages_stay_small(pages):
    assert all(page.stat().st_size < 2_000_000 for page in pages.values())
