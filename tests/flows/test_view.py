"""`decaf view` as a visitor has it: a real server on loopback, and Chromium without a network."""

import csv
import io
import json
import shlex
import shutil
import signal
import socket
import subprocess
import time

import httpx
import pytest
from ended_commands import refused, succeeded
from s3_server import free_port
from scenes_warehouse import MODELS, scenes_warehouse
from warm_command import DECAF

from decaf.foundation.extras import install_command

PATIENCE_SECONDS = 120
TRAJECTORY = f"study=demo&model_id={MODELS[0]}&pair_id=scene-0__wall_hue&path=blend&repetition=0"


@pytest.fixture(scope="module")
def warehouse(tmp_path_factory):
    return scenes_warehouse(tmp_path_factory.mktemp("scenes") / "warehouse").folder


@pytest.fixture(scope="module")
def address(warehouse):
    """Of a server that shows the warehouse; ended by Ctrl-C, it has the exit code of that."""
    port = free_port()
    command = [DECAF, "view", warehouse, "--no-browser", "--port", str(port)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as it:
        try:
            line = it.stdout.readline()
            assert f"http://127.0.0.1:{port}" in line
            yield f"http://127.0.0.1:{port}"
            it.send_signal(signal.SIGINT)
            assert it.wait(PATIENCE_SECONDS) == 130
            assert "Traceback" not in it.stderr.read()
            with socket.socket() as probe:
                assert probe.connect_ex(("127.0.0.1", port)) != 0
        finally:
            it.kill()


def until(found):
    stop = time.monotonic() + PATIENCE_SECONDS
    while not (value := found()):
        assert time.monotonic() < stop
        time.sleep(0.1)
    return value


def cells(browser):
    """Texts of the cells of the table, by column and row; the grid has them for screen readers."""
    return browser.execute_script(
        "return [...document.querySelectorAll('[data-testid=stDataFrame] table tr')]"
        ".map(row => [...row.querySelectorAll('td, th')].map(cell => cell.textContent))"
    )


def text_of(browser, selector):
    return browser.execute_script(
        "return document.querySelector(arguments[0])?.textContent", selector
    )


def is_settled(browser):
    return text_of(browser, "[data-testid=stApp][data-test-script-state=notRunning]")


def opened(browser, address):
    browser.get(address)
    until(lambda: is_settled(browser) and len(cells(browser)) > 1)
    return cells(browser)


@pytest.mark.slow
def test_a_visitor_goes_from_a_study_to_one_trajectory(browser, address):
    browser.get_log("performance")
    assert "demo" in opened(browser, address)[1]
    # From page to page by the first row, as a click on its box does.
    for title in ("Models", "Responses", "Pairs", "Trajectory"):
        grid = browser.find_element("css selector", "[data-testid=stDataFrame] canvas")
        clicked(browser, grid)
        until(lambda wanted=title: text_of(browser, "h1") == wanted)
        until(lambda: is_settled(browser) and len(cells(browser)) > 1)
    assert "pair_id=" in browser.current_url
    assert len(cells(browser)) == 1 + 4  # stages
    assert (text_of(browser, "[data-testid=stMain]") or "").startswith("Trajectory")
    browser.switch_to.frame(browser.find_element("css selector", "iframe"))
    assert browser.find_elements("css selector", "svg polygon")
    browser.switch_to.default_content()
    asked = {
        json.loads(entry["message"])["message"]["params"].get("request", {}).get("url", "")
        for entry in browser.get_log("performance")
        if "Network.requestWillBeSent" in entry["message"]
    }
    own = (address, "data:", "blob:", "about:", "chrome:")  # the last are Chromium's own pages
    outside = {url for url in asked if not url.startswith(own)}
    assert outside <= {""}


def clicked(browser, grid):
    """Tick the first row: its box is left of the cells, under the heading."""
    from selenium.webdriver import ActionChains

    left, top = -grid.size["width"] // 2 + 16, -grid.size["height"] // 2 + 52
    ActionChains(browser).move_to_element_with_offset(grid, left, top).click().perform()


def test_the_command_that_is_shown_gives_the_rows_that_are_shown(browser, address, decaf):
    shown = opened(browser, f"{address}/pairs?study=demo&path=blend")
    browser.find_element("css selector", "[data-testid=stExpander] summary").click()
    command = until(lambda: text_of(browser, "[data-testid=stExpander] code"))
    answer = succeeded(decaf(*shlex.split(command)[1:], "--format", "csv"))
    rows = [*csv.DictReader(io.StringIO(answer))]
    assert len(rows) == 16
    place = shown[0].index("pair_id")
    seen = [row[place] for row in shown[1:]]  # as far as the window shows the grid
    assert len(seen) >= 8
    assert seen == [row["pair_id"] for row in rows[: len(seen)]]
    evidence = [float(row["evidence"]) for row in rows]
    assert evidence == sorted(evidence, reverse=True)


@pytest.mark.slow
def test_rows_are_filtered_and_sorted(browser, address):
    def column(name):
        shown = cells(browser)
        return [row[shown[0].index(name)] for row in shown[1:]] if shown else []

    opened(browser, f"{address}/pairs?study=demo&path=blend&model_id={MODELS[0]}")
    browser.find_element("css selector", "[data-testid=stMultiSelect] input").send_keys("pair_id\n")
    part = until(lambda: browser.find_elements("css selector", "[aria-label='pair_id contains']"))
    part[0].send_keys("SCENE-0\n")
    until(lambda: is_settled(browser) and len(column("pair_id")) == 2)
    assert {*column("pair_id")} == {"scene-0__shape", "scene-0__wall_hue"}
    falling = [*map(float, column("evidence"))]
    browser.find_element("css selector", "[data-testid=stCheckbox] label").click()
    until(lambda: is_settled(browser) and [*map(float, column("evidence"))] == falling[::-1])
    assert falling[0] > falling[1]


def test_an_address_that_is_about_nothing_says_so(browser, address):
    browser.get(f"{address}/pairs?study=nobodys")
    until(lambda: "Nothing is here yet" in (text_of(browser, "body") or ""))
    browser.get(f"{address}/trajectory")
    until(lambda: "Choose a pair first." in (text_of(browser, "body") or ""))
    browser.get(f"{address}/pairs?repetition=often")
    until(lambda: "the address asks for what no row can be" in (text_of(browser, "body") or ""))


def test_other_names_of_this_machine_get_no_rows(address):
    host = {"Host": "evil.example", "Origin": "http://evil.example"}
    upgrade = {"Connection": "Upgrade", "Upgrade": "websocket", "Sec-WebSocket-Version": "13"}
    key = {"Sec-WebSocket-Key": "c2l4dGVlbiBieXRlcyEhIQ=="}
    answer = httpx.get(f"{address}/_stcore/stream", headers=host | upgrade | key)
    assert answer.status_code in (400, 403, 421)


def test_what_cannot_be_shown_is_refused(decaf, tmp_path, warehouse):
    refused(decaf("view", "none"), "no warehouse")
    newer = shutil.copytree(warehouse, tmp_path / "newer")
    mark = newer / "warehouse.json"
    mark.write_text(mark.read_text().replace(": 1", ": 99"))
    refused(decaf("view", newer), "99")
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        port = taken.getsockname()[1]
        refused(decaf("view", warehouse, "--port", port), "cannot be served", "--port")


def test_without_streamlit_its_extra_is_named(decaf, warehouse):
    done = decaf("view", warehouse, SURROUNDINGS="without_package=streamlit")
    refused(done, f"package streamlit is not installed here; {install_command('view')}")
