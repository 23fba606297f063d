"""`decaf view` in a browser: one visit with the real command, with and without script."""

import signal
import socket
import subprocess

import pytest
from accessibility import UNFOLDED, assert_accessible, requested, show
from s3_server import free_port
from scenes_warehouse import scenes_warehouse
from selenium.webdriver.support.expected_conditions import url_contains
from selenium.webdriver.support.wait import WebDriverWait
from versions_warehouse import add_registry
from warm_command import DECAF

PATIENCE_SECONDS = 120
PICTURE = """const done = arguments[0], words = {title: 'a', subject: 'b', origin: 'c'};
draw(document.querySelector('.card'), words).then(createImageBitmap)
  .then(picture => done([picture.width, picture.height]));"""
FOLDED = UNFOLDED.replace("true", "false")


@pytest.fixture
def address(tmp_path):
    """Address of a server of the warehouse, which Ctrl-C ends with its exit code."""
    store, port = scenes_warehouse(tmp_path / "warehouse"), free_port()
    add_registry(store)
    command = [DECAF, "view", store.folder, "--no-browser", "--port", str(port)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as it:
        try:
            assert f"http://127.0.0.1:{port}" in it.stdout.readline()
            yield f"http://127.0.0.1:{port}"
            it.send_signal(signal.SIGINT)
            assert it.wait(PATIENCE_SECONDS) == 130
            assert "Traceback" not in it.stderr.read()
            with socket.socket() as probe:
                assert probe.connect_ex(("127.0.0.1", port)) != 0
        finally:
            it.kill()


@pytest.mark.slow
def test_a_visitor_goes_from_a_study_to_a_trajectory_with_and_without_script(browser, address):
    for has_script in (True, False):
        browser.execute_cdp_cmd("Emulation.setScriptExecutionDisabled", {"value": not has_script})
        for width, scheme in ((1200, "dark" if has_script else "light"), (360, "light")):
            show(browser, width, scheme)
            for log in ("performance", "browser"):
                browser.get_log(log)
            browser.get(address)
            for _ in range(4):
                _judge(browser, has_script)
                browser.find_element("css selector", ".rows tbody th a").click()
            _judge(browser, has_script)
            assert "/trajectory?" in browser.current_url
            assert browser.find_elements("css selector", ".card svg polygon")
            if has_script:
                assert browser.execute_async_script(PICTURE) == [1200, 630]
            _find_another_model(browser)
            browser.get(f"{address}/entries")
            _judge(browser, has_script)
            browser.find_element("link text", "net").click()
            _judge(browser, has_script)
            assert len(browser.find_elements("css selector", ".gauge")) == 2
            assert browser.get_log("browser") == []
            assert {url for url in requested(browser) if not url.startswith(address)} <= {"data:,"}


def _judge(browser, has_script):
    """No rule of WCAG is broken, nothing is wider than the window, and copying needs a script."""
    buttons = browser.find_elements("css selector", "[data-copy], [data-picture]")
    assert {button.is_displayed() for button in buttons if button.text} <= {has_script}
    if has_script:
        browser.execute_script(UNFOLDED)
        assert_accessible(browser)
        browser.execute_script(FOLDED)


def _find_another_model(browser):
    """By the menu of the place, then by the filter of the table."""
    browser.find_element("css selector", ".crumbs .menu summary").click()
    browser.find_element("css selector", ".crumbs .menu li:nth-child(1) a").click()
    field = browser.find_element("css selector", "input[type=search]")
    field.send_keys("path:patch")
    field.submit()
    WebDriverWait(browser, PATIENCE_SECONDS).until(url_contains("q=path%3Apatch"))
    assert len(browser.find_elements("css selector", ".rows tbody tr")) == 2
