"""Judge the page that a browser shows by the rules of WCAG 2 A and AA, with axe-core."""

from pathlib import Path

AXE = Path(__file__).parents[1] / "third_party" / "axe" / "axe.min.js"
JUDGED = """const done = arguments[0];
axe.run(document, {runOnly: ['wcag2a', 'wcag2aa']}).then(found => done(
  [found.passes.length, found.violations.map(
    one => [one.id, one.nodes.map(node => node.html.slice(0, 120))])]));"""
TOO_WIDE = "const page = document.documentElement; return page.scrollWidth - page.clientWidth;"


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
