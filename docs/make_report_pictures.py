"""Photograph reports for the pages of the docs.

    python docs/make_report_pictures.py REPORT [PREFIX]

writes ``docs/images/PREFIXreport.png`` and ``PREFIXpair.png``, the top of a report and its pairs:
without a prefix, for the README, from the page of ``make demo``; with ``story-``, from the last
page of docs/story.md.

    python docs/make_report_pictures.py FOLDER

writes the pictures of docs/report.md, from the reports ``FOLDER/KIND/runs/KIND.html`` of examples
that ``decaf init KIND`` and ``decaf run`` made. Needs Chromium and its driver.
"""

import io
import sys
from pathlib import Path

from PIL import Image
from selenium import webdriver
from selenium.webdriver.chrome.service import Service

PICTURES = Path(__file__).parent / "images"
FLAGS = ("--headless=new", "--no-sandbox", "--disable-gpu", "--hide-scrollbars")
PAIRS = {"": "#pairs .look", "story-": "#pair .look"}
"""By prefix: the part of the page with pairs."""
SHOTS = (
    ("table_pairs", 360, 1100, "dark", "body"),
    ("registry", 360, 1100, "light", "body"),
    ("image_pairs", 1080, 2400, "light", "#pair .look"),
    ("image_features", 1080, 2400, "dark", "#pair .look"),
)
"""Pictures of docs/report.md: example, width and height of the window, px, scheme and part."""


def open_browser() -> webdriver.Chrome:
    """Start a browser without a window."""
    options = webdriver.ChromeOptions()
    for flag in FLAGS:
        options.add_argument(flag)
    return webdriver.Chrome(options=options, service=Service("/usr/bin/chromedriver"))


def photograph(
    driver: webdriver.Chrome, page: Path, width: int, height: int, scheme: str, part: str
) -> bytes:
    """PNG of a part of a page; of ``body``, what a window of this size shows.

    The window must be high enough for a part: below it, the part would be cut off.
    """
    size = {"width": width, "height": height, "deviceScaleFactor": 1, "mobile": False}
    driver.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", size)
    features = [{"name": "prefers-color-scheme", "value": scheme}]
    driver.execute_cdp_cmd("Emulation.setEmulatedMedia", {"features": features})
    driver.get(page.resolve().as_uri())
    if part == "body":
        return driver.get_screenshot_as_png()
    return driver.find_element("css selector", part).screenshot_as_png


def main(path: Path, prefix: str = "") -> None:
    """Save the pictures of a report, or of the examples in a folder."""
    driver = open_browser()
    if path.is_dir():
        for kind, *look in SHOTS:
            page = path / kind / "runs" / f"{kind}.html"
            shot = Image.open(io.BytesIO(photograph(driver, page, *look)))
            shot.convert("RGB").save(PICTURES / f"report-{kind}.webp", lossless=True, method=6)
    else:
        top = photograph(driver, path, 1080, 620, "light", "body")
        pairs = photograph(driver, path, 1080, 1200, "light", PAIRS[prefix])
        (PICTURES / f"{prefix}report.png").write_bytes(top)
        (PICTURES / f"{prefix}pair.png").write_bytes(pairs)
    driver.quit()


if __name__ == "__main__":
    main(Path(sys.argv[1]), *sys.argv[2:])
