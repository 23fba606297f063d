"""The strongest pairs in the report: their cards, and which of them are shown."""

import io
from collections import namedtuple
from dataclasses import dataclass, replace
from types import SimpleNamespace

import numpy as np
import pytest
from accessibility import resize
from PIL import Image
from stub_audit import Audit, insert
from test_report_registry import fill, fill_changed

from decaf.library.curve import HEIGHT
from decaf.routing.profiles import profile
from warehouse.report.audit import pairs
from warehouse.report.audit.facts import COMPONENTS, read_facts
from warehouse.report.page import write_report

MODELS = ("one", "two")
T = [0.0, 0.25, 0.5, 1.0]
EPSILON = 0.02


@dataclass(frozen=True)
class Shown:
    """A pair of a report, as the view has it."""

    model: str
    component: str
    rank: int
    response: tuple[float, ...]
    pair_type: str = "floor"
    words: str | None = "sea → <land>"
    side: int | None = 4

    def row(self, study):
        q_minus = [0.1] * len(T)
        q_plus = [r + 0.1 for r in self.response]
        value, total = parts(self.response)[self.component], sum(parts(self.response).values())
        picture = None if self.side is None else webp(self.side, self.side)
        strip = None if self.side is None else webp(4 * self.side, 2 * self.side)
        place = MODELS.index(self.model) + 1
        return (
            *(study, self.pair_type, self.model, place, self.component, self.rank, "blend"),
            *(f"{self.model}-{self.component}-{self.rank}", 0, value, total, self.response[-1]),
            *(T, q_plus, q_minus, "The floor", "fading in", self.words),
            *(picture, picture, strip, [] if self.side is None else T),
        )


def parts(response):
    """E, C and F of a response by area, from the library's own routing."""
    routed = profile(np.array(response), np.array(T), EPSILON)
    return {name: float(getattr(routed, name)) for name in COMPONENTS}


def webp(width, height):
    content = io.BytesIO()
    noise = np.random.default_rng(0).integers(0, 256, (height, width, 3), np.uint8)
    Image.fromarray(noise).save(content, "WEBP", lossless=True)
    return content.getvalue()


SHOWN = (
    Shown("one", "evidence", 1, (0, 0.5, 0.75, 0.875)),
    Shown("one", "evidence", 2, (0, 0.25, 0.25, 0.25)),
    Shown("one", "contradiction", 1, (0, 0.5, 0.25, -0.25)),
    Shown("two", "evidence", 1, (0, -0.8, -0.8, -0.8), side=None),
    Shown("two", "fragility", 1, (0, 0.5, -0.5, 0.0), words=None),
)


@pytest.fixture
def audited(stub):
    """Open an audit with some pairs: audited(pairs)."""

    def opened(shown=SHOWN):
        connection = stub(Audit(models=MODELS, pair_types=("floor",), paths=("blend",)))
        insert(connection, "out_shown_pairs", [one.row("demo") for one in shown])
        return connection

    return opened


def test_what_no_model_reaches_is_said_of_any_model(audited, report):
    text = report(audited([one for one in SHOWN if one.component == "evidence"])).text
    assert "Contradiction – No pair of any model reaches 0.010." in text
    assert "No further source of any other model reaches 0.010." in text


def test_a_card_says_what_its_pair_does(audited, report):
    text = report(audited()).text
    for words in (
        "The strongest pairs",
        "The floor",
        "sea → <land>",
        "Evidence 0.625",
        "d +0.875",
        "factual 0.975",
        "The response keeps its sign from start to end, and ends at +0.875.",
        "At t = 0.25 the response is +0.500. It ends at −0.250, on the other side.",
        "At t = 0.25 the response is +0.500. It ends at 0, below the threshold of 0.020.",
        "two-fragility-1",
        "No pair of one reaches 0.010.",
        "No further source of two reaches 0.010.",
    ):
        assert words in text, words


def test_coloured_areas_are_the_components(audited):
    (of_type,) = pairs.pair_cards(read_facts(audited(), "demo")).types
    assert len(of_type.cards) == len(SHOWN)
    for card in of_type.cards:
        expected = parts(np.array(card.row.q_plus) - card.row.q_minus)
        found = dict.fromkeys(COMPONENTS, 0.0)
        for component, points in card.curve.areas:
            x, y = np.array([point.split(",") for point in points.split()], float).T
            width = x[-1] - x[0]
            found[component] += abs(np.trapezoid(y - 50, x)) / width / HEIGHT
        assert found == pytest.approx(expected, abs=3e-3)


@pytest.mark.slow
def test_each_choice_shows_one_card_of_a_component(browser, audited, tmp_path):
    page = tmp_path / "r.html"
    write_report(audited(), "demo", page)
    browser.get(page.as_uri())

    def seen():
        cards = browser.find_elements("css selector", ".cards .card")
        return sorted(" ".join(one.text.split()[:3]) for one in cards if one.is_displayed())

    def choose(name):
        browser.find_element("css selector", f"#pairs input.{name}").click()
        return seen()

    first = ["C Contradiction 0.219", "E Evidence 0.700", "F Fragility 0.312"]
    assert seen() == first
    assert choose("m1") == ["C Contradiction 0.219", "E Evidence 0.625", "Fragility – No"]
    assert choose("r2") == ["Contradiction – No", "E Evidence 0.219", "Fragility – No"]
    assert choose("m2") == ["Contradiction – No", "Evidence – No", "Fragility – No"]
    assert choose("r1") == ["Contradiction – No", "E Evidence 0.700", "F Fragility 0.312"]
    assert choose("m0") == first

    resize(browser, 360, 800)
    measured = browser.execute_script(
        """const box = e => e.getBoundingClientRect(), root = document.documentElement;
        const cards = [...document.querySelectorAll('.cards .card')].filter(e => e.offsetParent);
        const out = cards.flatMap(card => [...card.querySelectorAll('*')]
          .filter(e => box(e).right > box(card).right + 0.5).map(e => e.outerHTML.slice(0, 80)));
        const lefts = cards.map(card => box(card).left).sort((a, b) => a - b);
        return [root.scrollWidth - root.clientWidth, out, lefts[1] < root.clientWidth];"""
    )
    assert measured == [0, [], True], "the next card peeps out"


SEEN = """const box = document.querySelector(arguments[0]).getBoundingClientRect();
return box.height > 0 && box.top >= 0 && box.top < innerHeight && box.right <= innerWidth;"""


@pytest.mark.parametrize(("width", "height"), [(360, 800), (1200, 900)])
def test_the_first_screen_leads_to_the_pairs(browser, audited, tmp_path, width, height):
    """By the first link of a page, also of one with failed gates, and by the row of a model."""
    size = {"width": width, "height": height, "deviceScaleFactor": 1, "mobile": False}
    browser.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", size)
    connection = audited()
    write_report(connection, "demo", tmp_path / "passed.html")
    fill(connection)
    fill_changed(connection)
    write_report(connection, "demo", tmp_path / "failed.html")
    for name, link in (("passed", "nav a"), ("passed", ".verdict h3 a"), ("failed", "nav a")):
        browser.get("about:blank")
        browser.get_log("browser")
        browser.get((tmp_path / f"{name}.html").as_uri())
        assert browser.execute_script(SEEN, link), (name, link)
        element = browser.find_element("css selector", link)
        target = element.get_attribute("href").partition("#")[2]
        card = f"section[id='{target}'] .card, .card[id='{target}']"
        element.click()
        assert browser.execute_script(SEEN, card), (name, link)
        assert browser.get_log("browser") == []


LINKED = """const ids = [...document.querySelectorAll('[id]')].map(e => e.id);
const links = [...document.querySelectorAll('a[href^="#"]')].map(e => e.hash.slice(1));
return [links.length, links.filter(link => !ids.includes(link)),
  ids.filter((id, place) => ids.indexOf(id) < place)];"""


@pytest.mark.parametrize("sections", [None, ["profiles"], ["pairs"]])
def test_every_link_of_a_report_has_one_target(browser, audited, tmp_path, sections):
    """Also if a pair is strong in two components."""
    connection = audited()
    connection.execute(
        "UPDATE out_shown_pairs SET pair_id = 'both' WHERE pair_id IN ($1, $2)",
        ["one-evidence-2", "one-contradiction-1"],
    )
    write_report(connection, "demo", tmp_path / "page.html", sections=sections)
    browser.get((tmp_path / "page.html").as_uri())
    link_count, without_target, repeated = browser.execute_script(LINKED)
    assert link_count > len(SHOWN)
    assert (without_target, repeated) == ([], [])


def test_a_finding_leads_to_its_strongest_pair(audited):
    cards = pairs.pair_cards(read_facts(audited(), "demo")).cards
    addresses = [
        pairs.strongest_address(cards, SimpleNamespace(model_id=model, pair_type=pair_type))
        for model, pair_type in (("one", "floor"), ("two", "floor"), ("two", "wall"))
    ]
    assert addresses == ["one/one-evidence-1/blend", "two/two-evidence-1/blend", ""]


def test_pairs_of_a_failed_limit_then_of_a_finding_are_shown_first(stub):
    connection = stub(Audit(models=MODELS, pair_types=("floor", "wall"), paths=("blend",)))
    shown = [replace(one, pair_type=name) for name in ("floor", "wall") for one in SHOWN]
    insert(connection, "out_shown_pairs", [one.row("demo") for one in shown])
    facts = read_facts(connection, "demo")
    finding = facts.findings[0]._replace(pair_type="wall")

    def first(findings, limits):
        cards = pairs.single_pairs(facts._replace(findings=findings, limits=limits))
        return {card.row.pair_type for card in cards}

    passed = SimpleNamespace(pair_type="wall", verdict="passed", response=0.3)
    failed = SimpleNamespace(pair_type="floor", verdict="failed", response=0.1)
    assert first((), ()) == {"floor"}
    assert first((finding,), ()) == {"wall"}
    assert first((finding,), (passed, failed)) == {"floor"}


def test_pairs_of_a_failed_gate_are_shown_first(audited):
    facts = read_facts(audited(), "demo")
    pair = next(row for row in facts.shown_pairs if row.component == "fragility")
    entry = namedtuple("Entry", ("entry", "version", "model_id"))("net", "7", pair.model_id)
    columns = ("entry", "verdict", "metric", "pair_type")

    def shown(verdict):
        gate = namedtuple("Gate", columns)("net", verdict, "fragility", pair.pair_type)
        of_registry = facts._replace(verdicts=(gate,), entries=(entry,)).for_people()
        cards = pairs.single_pairs(of_registry)
        return [(card.row.model_id, card.row.component) for card in cards]

    failed, passed = shown("fail"), shown("pass")
    assert failed[0] == ("net 7", "fragility")
    assert {model for model, _ in failed} == {"net 7"}
    assert passed[0] != failed[0]
    assert [component for _, component in passed] == ["evidence", "contradiction", "fragility"]


def test_pictures_are_left_out_before_the_page_grows(audited):
    facts = read_facts(audited([replace(one, side=40) for one in SHOWN]), "demo")
    assert pairs.pair_cards(facts).note == ""
    one_row = sum(4 * len(webp(*size)) // 3 for size in ((40, 40), (40, 40), (160, 80)))
    strongest = pairs.pair_cards(facts, 2 * one_row)
    (of_type,) = strongest.types
    assert (of_type.models, of_type.ranks) == (("one",), (1,))
    assert "3 cards of lower ranks or other models are left out" in strongest.note
    (of_type,) = pairs.pair_cards(facts, one_row).types
    assert [card.frames.picture for card in of_type.cards] == [None, None]


def test_without_pairs_there_is_no_section(stub, report):
    assert "pairs" not in report(stub(Audit())).ids
