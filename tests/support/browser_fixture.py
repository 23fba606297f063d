"""A browser to look at reports with."""

import os
import shutil
from collections.abc import Iterator

import pytest

CHROMIUM = "/usr/bin/chromium"
CHROMEDRIVER = "/usr/bin/chromedriver"
FLAGS = ("--headless=new", "--no-sandbox", "--disable-gpu", "--no-first-run", "--disable-sync")
FLAGS += ("--disable-background-networking", "--disable-component-update", "--window-size=1200,900")

SCRIPT_SECONDS = 300
"""A busy machine takes long to judge a page by all rules of WCAG."""


@pytest.fixture(scope="module")
def browser(tmp_path_factory) -> Iterator:
    """Headless Chromium with a fresh profile that records its requests."""
    missing = [name for name in (CHROMIUM, CHROMEDRIVER) if shutil.which(name) is None]
    if missing:
        reason = f"{' and '.join(missing)} not installed (apt: chromium, chromium-driver)"
        if os.environ.get("DECAF_REQUIRE_CHROMIUM") == "1":
            pytest.fail(reason)
        pytest.skip(reason)
    from selenium import webdriver
    from selenium.webdriver.chrome.service import Service

    options = webdriver.ChromeOptions()
    options.binary_location = CHROMIUM
    for flag in (*FLAGS, f"--user-data-dir={tmp_path_factory.mktemp('profile')}"):
        options.add_argument(flag)
    options.set_capability("goog:loggingPrefs", {"performance": "ALL", "browser": "ALL"})
    driver = webdriver.Chrome(options=options, service=Service(CHROMEDRIVER))
    driver.set_script_timeout(SCRIPT_SECONDS)
    yield driver
    driver.quit()
