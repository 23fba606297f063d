"""The page that a browser shows: its size, what it loads, and the rules of WCAG 2 A and AA."""

import json
from itertools import product
from pathlib import Path

AXE = Path(__file__).parents[1] / "third_party" / "axe" / "axe.min.js"
JUDGED = """const done = arguments[0];
axe.run(document, {runOnly: ['wcag2a', 'wcag2aa']}).then(found => done(
  [found.passes.length, found.violations.map(
    one => [one.id, one.nodes.map(node => node.html.slice(0, 120))])]));"""
UNFOLDED = "for (const fold of document.querySelectorAll('details')) fold.open = true;"
TOO_WIDE = "const page = document.documentElement; return page.scrollWidth - page.clientWidth;"


def resize(browser, width, height):
    """Set the size of the page itself; a window cannot be as narrow as a telephone."""
    size = {"width": width, "height": height, "deviceScaleFactor": 1, "mobile": False}
    browser.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", size)


def requested(browser):
    """Addresses that the browser asked for since the last call."""
    messages = (json.loads(entry["message"])["message"] for entry in browser.get_log("performance"))
    return [
        message["params"]["request"]["url"]
        for message in messages
        if message["method"] == "Network.requestWillBeSent"
    ]


def judge_page(browser):
    """Number of rules that hold, and each broken rule with the elements that break it."""
    browser.execute_script(AXE.read_text())
    return browser.execute_async_script(JUDGED)


def assert_accessible(browser):
    """No rule is broken, and nothing is wider than the window."""
    held_count, violations = judge_page(browser)
    assert violations == []
    assert held_count > 10
    assert browser.execute_script(TOO_WIDE) <= 0


def show(browser, width, scheme):
    """Set the width of the page, px, and its colour scheme."""
    resize(browser, width, 900)
    features = [{"name": "prefers-color-scheme", "value": scheme}]
    browser.execute_cdp_cmd("Emulation.setEmulatedMedia", {"media": "", "features": features})


def assert_page_accessible(browser, page):
    """A file keeps the rules on a desk and on a telephone, light and dark, with all unfolded."""
    for width, scheme in product((1200, 360), ("light", "dark")):
        show(browser, width, scheme)
        browser.get(page.as_uri())
        browser.execute_script(UNFOLDED)
        assert_accessible(browser)
    show(browser, 1200, "light")
