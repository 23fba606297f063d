"""`decaf view`: entries of registries, and their versions with gates and responses."""

import csv
import io
import shlex
from urllib.parse import urlencode

import pytest
from ended_commands import succeeded
from scenes_warehouse import scenes_warehouse
from test_view import HOSTILE, client_of, shown
from versions_warehouse import NAMES, add_reaudit, add_registry, add_verdict

from warehouse.commits.writer import open_root

VERSIONS = "/versions?study=demo&entry={}"


@pytest.fixture(scope="module")
def warehouse(tmp_path_factory):
    store = scenes_warehouse(tmp_path_factory.mktemp("registry") / "warehouse")
    add_registry(store)
    return store.folder


@pytest.fixture(scope="module")
def client(warehouse):
    return client_of(warehouse)


def test_links_lead_from_a_study_to_versions_and_to_the_responses_of_one(client):
    models = shown(client, shown(client, "/studies").link("/models?study=demo"))
    entries = shown(client, models.link("/entries?study=demo"))
    assert entries.rows == shown(client, shown(client, "/studies").link("/entries")).rows
    versions = shown(client, entries.link("/versions?study=demo&entry=net"))
    assert shown(client, versions.link("/responses?study=demo&model_id=small_cnn.wall99")).rows
    assert versions.link("/entries?study=demo")
    for name in NAMES:
        assert versions.link(f"/versions?study=demo&entry={name}")


def test_entries_count_those_that_fail(client):
    page = shown(client, "/entries?study=demo")
    assert "1 of 5 entries fails its gates" in page.text
    by_entry = dict(zip(page.column("Entry"), page.column("Verdict"), strict=True))
    assert by_entry == {
        "net": "✕ Failed",
        "plain": "– Not applicable",
        "left": "gone",
        "bad": "not audited",
        "late": "not audited",
    }


def test_a_failed_version_has_its_gate_its_interval_and_what_it_was_compared_with(client):
    page = shown(client, VERSIONS.format("net"))
    assert "Version 2 is the first bad version of net" in page.text
    assert page.column("Version") == ["3", "2", "1"]
    assert page.column("Date UTC") == [f"2026-03-0{day} 00:00" for day in (3, 2, 1)]
    assert page.column("Verdict") == ["✕ Failed", "✕ Failed", "– Not applicable"]
    assert page.column("Compared with") == ["1", "1", "–"]
    assert page.column("Failed gates") == ["evidence", "evidence", ""]
    for words in ("+0.457", "+0.432", "95 %: +0.400 to +0.500", "at most +0.100", "least 0.300"):
        assert words in page.text
    assert "there is no version before it" in page.text
    bars = page.text[page.text.index("How each version reacts") :]
    assert bars.index("version 3") < bars.index("version 2") < bars.index("version 1")


def test_versions_without_gates_gone_or_failed_say_so(client):
    for entry, words, has_bars in (
        ("plain", "Version 1 of plain was judged by no gate", True),
        ("left", "left is gone from its registry", True),
        ("bad", "Version 1 of bad could not be audited", False),
        ("late", "Version 2 of late could not be audited", True),
    ):
        page = shown(client, VERSIONS.format(entry))
        assert words in page.text
        assert ("How each version reacts" in page.text) is has_bars
        assert "What the gates found" not in page.text
    assert {*shown(client, VERSIONS.format("bad")).column("Note")} == {"no card"}


def test_an_undecided_version_has_the_reason_of_its_gate(tmp_path):
    store = scenes_warehouse(tmp_path / "warehouse")
    add_registry(store)
    add_reaudit(store, "fourth", 3, {"net": {"version": "4", "change": "weights"}})
    few = dict.fromkeys(("lower_limit", "upper_limit"))
    few |= {"verdict": "undecided", "reason": "3 sources; an interval needs 5", "found": 0.4}
    add_verdict(store, "fourth", "net", few)
    page = shown(client_of(store.folder), VERSIONS.format("net"))
    assert "Version 4 of net is undecided" in page.text
    assert "a limit lies in an interval" not in page.text
    assert "3 sources; an interval needs 5" in page.text


def test_a_study_whose_entries_all_failed_has_no_run_and_a_page(tmp_path):
    store = open_root(tmp_path / "warehouse")
    failed = {"state": "failed", "change": "failed", "problem": "no card", "run_id": None}
    add_reaudit(store, "first", 0, {"net": failed})
    client = client_of(store.folder)
    entries = shown(client, shown(client, "/studies").link("/entries"))
    page = shown(client, entries.link("/versions"))
    assert "Version 1 of net could not be audited" in page.text
    assert page.column("Note") == ["no card"]


@pytest.mark.parametrize(
    ("accepted", "failing", "headline"),
    [
        ("second", 1, "Version 3 is the first bad version of net"),
        ("third", "None", "Version 3 of net was accepted"),
    ],
)
def test_an_accepted_version_is_no_bad_one(tmp_path, accepted, failing, headline):
    store = scenes_warehouse(tmp_path / "warehouse")
    add_registry(store, accepted=accepted)
    client = client_of(store.folder)
    assert f"{failing} of 5 entries" in shown(client, "/entries?study=demo").text
    page = shown(client, VERSIONS.format("net"))
    assert headline in page.text
    assert "accepted 2026-03-01 00:00 by ada: brighter" in page.column("Note")


def test_a_warehouse_without_a_registry_links_to_none(scenes):
    client = client_of(scenes)
    for address in ("/studies", "/models?study=demo"):
        assert "/entries" not in shown(client, address).page
    for address in ("/entries", "/entries?study=demo", VERSIONS.format("net"), "/versions"):
        assert "Nothing is here yet" in shown(client, address).text
    assert client.get("/entries?entry=net&entry=net").status_code == 400


def test_the_commands_give_the_versions_and_gates(client, decaf):
    address = VERSIONS.format("net") + "&q=verdict:fail"
    page = shown(client, address)
    of_versions, of_gates = (shlex.split(text)[1:] for text in page.queries)
    sent = client.get(address.replace("/versions", "/versions.csv")).text
    answer = succeeded(decaf(*of_versions, "--format", "csv"))
    rows = [[*csv.DictReader(io.StringIO(text))] for text in (answer, sent)]
    asked, shown_rows = (
        [row | {"resolved_at": row["resolved_at"][:26]} for row in of] for of in rows
    )
    assert asked == shown_rows
    assert len(page.rows) == 1 + len(asked) == 3
    gates = [*csv.DictReader(io.StringIO(succeeded(decaf(*of_gates, "--format", "csv"))))]
    assert [row["verdict"] for row in gates] == ["fail", "fail", "not applicable"]


def test_names_of_a_registry_are_shown_as_they_are(tmp_path):
    store = scenes_warehouse(tmp_path / "warehouse")
    add_registry(store, HOSTILE[:5], HOSTILE[5], "third", *HOSTILE[6:8])
    client = client_of(store.folder)
    entries = shown(client, "/entries?study=demo")
    for name in HOSTILE[:5]:
        page = shown(client, entries.link(urlencode({"entry": name})))
        assert [page.tags.count(tag) for tag in ("script", "img")] == [1, 0]
        assert name in page.text
    page = shown(client, f"/versions?{urlencode({'study': 'demo', 'entry': HOSTILE[0]})}")
    assert f"by {HOSTILE[6]}: {HOSTILE[7]}" in page.text
    assert "'=HYPERLINK" not in client.get("/entries.csv").text
