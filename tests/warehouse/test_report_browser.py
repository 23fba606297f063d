"""The report in a real browser: it loads nothing, complains of nothing and fits its window.

It keeps the rules of WCAG 2 A and AA (axe-core), and shows all in print.
"""

from dataclasses import replace
from pathlib import Path

import pytest
from accessibility import assert_accessible, judge_page, requested, resize
from report_reader import SECTIONS
from scenes_warehouse import STUDY, scenes_warehouse
from stub_audit import Audit, insert, many_models, open_stub, six_models
from test_report_parts import breakdown
from test_report_registry import fill, fill_changed

from warehouse.query import catalog
from warehouse.report.comparison import read_side, run_named, write_comparison
from warehouse.report.page import write_report
from warehouse.report.sides import write_sides

AUDITS = {
    "six": six_models(),
    "many": replace(many_models(72, paths=("blend",)), has_paper=False),
    "one": Audit(models=("<b>only</b>",), paths=("blend",), has_predictions=False),
    "empty": Audit(has_rows=False, is_finished=False),
}
PAGES = (*AUDITS, "failed", "two", "several")


@pytest.fixture(scope="module")
def reports(tmp_path_factory) -> dict[str, Path]:
    """A report of each audit, one more with failed gates and parts, and two comparisons."""
    folder = tmp_path_factory.mktemp("reports")
    written = {}
    for name, audit in AUDITS.items():
        with open_stub(audit) as connection:
            written[name] = write(connection, audit, folder / f"{name}.html")
            if name == "six":
                fill(connection, audit.study)
                fill_changed(connection, audit.study)
                values = (0.5, 0.25, 0.125, 0.875)
                rows = breakdown("resnet18.tv_in1k", "fish", values, study=audit.study)
                insert(connection, "out_breakdowns", rows)
                written["failed"] = write(connection, audit, folder / "failed.html")
    with catalog.connect(scenes_warehouse(folder / "w")) as runs:
        earlier = read_side(runs, STUDY, "w", run_named(runs, STUDY, "ear"))
        now = read_side(runs, STUDY, "w")
        sides = {"1": earlier, "/warehouses/of/the_last_year": now}
        written["two"] = write_comparison(folder / "two.html", STUDY, earlier, now, runs)
        written["several"] = write_sides(folder / "several.html", STUDY, sides, now)
    return written


def write(connection, audit: Audit, file: Path) -> Path:
    """Write the report of an audit; gives the file."""
    write_report(connection, audit.study, file, has_paper=audit.has_paper)
    return file


def emulate(browser, media: str = "", scheme: str = "light") -> None:
    """Show pages on this medium, in this colour scheme."""
    features = [{"name": "prefers-color-scheme", "value": scheme}]
    browser.execute_cdp_cmd("Emulation.setEmulatedMedia", {"media": media, "features": features})


def unfold(browser) -> None:
    """Open all folded parts of a page."""
    browser.execute_script("for (const fold of document.querySelectorAll('details')) fold.open = 1")


@pytest.mark.parametrize("name", PAGES)
def test_only_the_file_itself_is_requested_and_nothing_is_logged(browser, reports, name):
    resize(browser, 1200, 900)
    browser.get("about:blank")
    browser.get_log("browser")
    requested(browser)
    address = reports[name].as_uri()
    browser.get(address)
    unfold(browser)
    assert [url for url in requested(browser) if not url.startswith("data:")] == [address]
    assert browser.get_log("browser") == []


def test_the_log_would_show_a_request(browser, tmp_path):
    """The proof above is worth something only when the log sees what is not allowed."""
    page = tmp_path / "leak.html"
    page.write_text('<!DOCTYPE html><img src="leak.png">')
    browser.get_log("performance")
    browser.get(page.as_uri())
    assert (tmp_path / "leak.png").as_uri() in requested(browser)
    assert browser.get_log("browser") != []


@pytest.mark.parametrize("name", AUDITS)
def test_every_section_is_visible(browser, reports, name):
    resize(browser, 1200, 900)
    browser.get(reports[name].as_uri())
    unfold(browser)
    for section in (*SECTIONS, *(["paper"] if AUDITS[name].has_paper else [])):
        element = browser.find_element("id", section)
        assert element.is_displayed()
        assert element.size["height"] > 40
        assert element.find_element("css selector", "h1, h2").is_displayed()
    pictures = browser.find_elements("tag name", "svg")
    assert all(picture.is_displayed() and picture.size["width"] > 300 for picture in pictures)
    assert bool(pictures) == AUDITS[name].has_rows


@pytest.mark.parametrize("width", [360, 1200])
@pytest.mark.parametrize("name", AUDITS)
def test_the_page_never_scrolls_sideways(browser, reports, name, width):
    resize(browser, width, 900)
    browser.get(reports[name].as_uri())
    unfold(browser)
    inner, scrolled, seen = browser.execute_script(
        "const root = document.documentElement;"
        "return [innerWidth, root.scrollWidth, root.clientWidth];"
    )
    assert inner == width
    assert scrolled == seen
    outside = browser.execute_script(
        """const edge = document.documentElement.clientWidth + 0.5;
        return [...document.querySelectorAll('main *')]
          .filter(e => !e.closest('.scroll, pre') && e.getBoundingClientRect().right > edge)
          .map(e => e.outerHTML.slice(0, 80));"""
    )
    assert outside == []


def test_a_telephone_shows_the_first_verdict_on_one_screen(browser, reports):
    """Headline, sentence, bar and E, C, F of the worst model stand on the first screen."""
    resize(browser, 360, 800)
    browser.get(reports["six"].as_uri())
    bottoms = browser.execute_script(
        """return ['h1', '.words p', '.track', '.ecf']
          .map(css => document.querySelector(css).getBoundingClientRect().bottom);"""
    )
    assert bottoms == sorted(bottoms)
    assert bottoms[-1] < 800
    unfold(browser)
    edges = browser.execute_script(
        """const row = document.querySelector('#profiles tbody tr');
        return [...row.children].slice(1, 4).map(e => e.getBoundingClientRect().right);"""
    )
    assert 0 < edges[0] < edges[1] < edges[2]
    assert edges[-1] <= 360, "E, C and F of a table show without scrolling"
    shades = browser.execute_script(
        """return [...document.querySelectorAll('.scroll')]
          .map(e => getComputedStyle(e).backgroundAttachment);"""
    )
    assert set(shades) == {"local, local, scroll, scroll"}, "a table that scrolls has a shadow"


def test_text_of_a_picture_stays_inside_it(browser, reports):
    resize(browser, 1200, 900)
    browser.get(reports["six"].as_uri())
    unfold(browser)
    cut = browser.execute_script(
        """const cut = [];
        for (const svg of document.querySelectorAll('svg')) {
          const frame = svg.getBoundingClientRect();
          for (const text of svg.querySelectorAll('text')) {
            const box = text.getBoundingClientRect();
            if (box.left < frame.left - 1 || box.right > frame.right + 1)
              cut.push(text.textContent);
          }
        }
        return cut;"""
    )
    assert cut == []


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_text_of_pictures_is_legible_in_light_and_dark(browser, reports, scheme):
    """WCAG contrast of at least 4.5; axe-core judges no text of SVG."""
    emulate(browser, scheme=scheme)
    browser.get(reports["six"].as_uri())
    ratios = browser.execute_script(
        """const light = colour => {
          const [r, g, b] = colour.match(/[\\d.]+/g).map(v => v / 255)
            .map(v => v <= 0.04045 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4);
          return 0.2126 * r + 0.7152 * g + 0.0722 * b;
        };
        const paper = light(getComputedStyle(document.body).backgroundColor);
        const ratio = colour => {
          const [low, high] = [light(colour), paper].sort((a, b) => a - b);
          return (high + 0.05) / (low + 0.05);
        };
        return [...document.querySelectorAll('svg text')]
          .map(e => ratio(getComputedStyle(e).fill));"""
    )
    assert len(ratios) > 100
    assert min(ratios) >= 4.5


def test_tables_are_sorted_and_filtered_by_keyboard(browser, reports):
    resize(browser, 1200, 900)
    browser.get(reports["many"].as_uri())
    unfold(browser)
    head = "#profiles table thead th"

    def shown():
        return browser.execute_script(
            """return [...document.querySelector('#profiles table').tBodies[0].rows]
              .filter(row => !row.hidden)
              .map(row => [row.cells[0].innerText, parseFloat(row.cells[1].innerText)]);"""
        )

    def press(place):
        button = browser.find_elements("css selector", f"{head} button")[place]
        button.send_keys(" ")
        return browser.find_elements("css selector", head)[place].get_attribute("aria-sort")

    assert press(1) == "descending"
    values = [value for _, value in shown()]
    assert (values, len(values)) == (sorted(values, reverse=True), 72)
    assert press(1) == "ascending"
    assert [value for _, value in shown()] == sorted(values)
    assert press(0) == "ascending"
    assert [name for name, _ in shown()] == sorted(name for name, _ in shown())
    assert len(browser.find_elements("css selector", f"{head}[aria-sort]")) == 1
    field = browser.find_element("css selector", "#profiles .filter input")
    field.send_keys("VIT 01")
    assert field.accessible_name.strip() == "Filter"
    count = browser.find_element("css selector", "#profiles .filter output")
    assert {name[:15] for name, _ in shown()} == {"vit_variant_014"}
    assert count.text == "1 of 72 rows"
    assert count.aria_role == "status"


def test_a_link_opens_its_section(browser, reports):
    browser.get(reports["six"].as_uri())
    assert browser.find_element("css selector", "#costs > details").get_attribute("open") is None
    browser.find_element("css selector", "nav a[href='#costs']").click()
    assert browser.find_element("css selector", "#costs > details").get_attribute("open")


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
def test_no_rule_of_wcag_is_broken(browser, reports, name, width, scheme):
    emulate(browser, scheme=scheme)
    resize(browser, width, 900)
    browser.get(reports[name].as_uri())
    unfold(browser)
    assert_accessible(browser)


def test_axe_would_find_a_fault(browser, reports, tmp_path):
    page = tmp_path / "faulty.html"
    page.write_text(reports["two"].read_text().replace('lang="en"', "", 1))
    browser.get(page.as_uri())
    assert [rule for rule, _ in judge_page(browser)[1]] == ["html-has-lang"]


TABLES = """const tables = [...document.querySelectorAll('table')];
return [tables.filter(e => !e.checkVisibility()).length, tables
  .filter(e => e.getBoundingClientRect().right > innerWidth + 1).map(e => e.tHead.innerText)];"""


def test_print_unfolds_all_and_cuts_nothing(browser, reports):
    """On A4 upright, with margins of 1 cm."""
    resize(browser, 718, 1000)
    browser.get(reports["failed"].as_uri())
    assert browser.execute_script(TABLES)[0] > 0, "some are folded on the screen"
    for name in ("failed", "two", "several"):
        browser.get(reports[name].as_uri())
        emulate(browser, "print")
        printed = browser.execute_script(TABLES)
        emulate(browser)
        assert printed == [0, []]


def test_pages_stay_small(reports):
    assert all(page.stat().st_size < 2_000_000 for page in reports.values())
