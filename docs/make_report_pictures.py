"""Photograph the top of a report and its pairs for the pages of the docs.

    python docs/make_report_pictures.py REPORT [PREFIX]

writes ``docs/images/PREFIXreport.png`` and ``PREFIXpair.png``: without a prefix, for the README,
from the page of ``make demo``; with ``story-``, from the last page of docs/story.md. Needs Chromium
and its driver.
"""

import sys
from pathlib import Path

from selenium import webdriver
from selenium.webdriver.chrome.service import Service

PICTURES = Path(__file__).parent / "images"
FLAGS = ("--headless=new", "--no-sandbox", "--disable-gpu", "--hide-scrollbars")
SIZE = {"width": 1080, "height": 620, "deviceScaleFactor": 1, "mobile": False}
LIGHT = [{"name": "prefers-color-scheme", "value": "light"}]
PAIRS = {"": "#pairs .look", "story-": "#pair .look"}
"""By prefix: the part of the page with pairs."""


def main(page: Path, prefix: str = "") -> None:
    """Save the verdict, and some pairs."""
    options = webdriver.ChromeOptions()
    for flag in FLAGS:
        options.add_argument(flag)
    driver = webdriver.Chrome(options=options, service=Service("/usr/bin/chromedriver"))
    driver.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", SIZE)
    driver.execute_cdp_cmd("Emulation.setEmulatedMedia", {"features": LIGHT})
    driver.get(page.resolve().as_uri())
    driver.save_screenshot(str(PICTURES / f"{prefix}report.png"))
    tall = {**SIZE, "height": 1200}  # an element below the window would be cut off
    driver.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", tall)
    pairs = driver.find_element("css selector", PAIRS[prefix])
    pairs.screenshot(str(PICTURES / f"{prefix}pair.png"))
    driver.quit()


if __name__ == "__main__":
    main(Path(sys.argv[1]), *sys.argv[2:])
