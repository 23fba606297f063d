"""Photograph the report of the demo for the README: ``docs/images/report.png`` and ``pair.png``.

    python docs/make_report_pictures.py REPORT

REPORT is the page that ``make demo`` writes, ``runs/demo.html``. Needs Chromium and its driver.
"""

import sys
from pathlib import Path

from selenium import webdriver
from selenium.webdriver.chrome.service import Service

PICTURES = Path(__file__).parent / "images"
FLAGS = ("--headless=new", "--no-sandbox", "--disable-gpu", "--hide-scrollbars")
SIZE = {"width": 1080, "height": 620, "deviceScaleFactor": 1, "mobile": False}
LIGHT = [{"name": "prefers-color-scheme", "value": "light"}]


def main(page: Path) -> None:
    """Save the verdict, and the pairs of the first pair type."""
    options = webdriver.ChromeOptions()
    for flag in FLAGS:
        options.add_argument(flag)
    driver = webdriver.Chrome(options=options, service=Service("/usr/bin/chromedriver"))
    driver.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", SIZE)
    driver.execute_cdp_cmd("Emulation.setEmulatedMedia", {"features": LIGHT})
    driver.get(page.resolve().as_uri())
    driver.save_screenshot(str(PICTURES / "report.png"))
    tall = {**SIZE, "height": 1200}  # an element below the window would be cut off
    driver.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", tall)
    driver.find_element("css selector", "#pairs .look").screenshot(str(PICTURES / "pair.png"))
    driver.quit()


if __name__ == "__main__":
    main(Path(sys.argv[1]))
