"""Webhooks of MLflow and changes in folders start one run of a schedule."""

import http.client
import json
import os
import select
import socket
import time
from contextlib import closing
from datetime import UTC, datetime, timedelta

import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st
from webhooks import BODY, EVENT, NOW, SECRET, asked, signed

from decaf.errors import BadInput, ConfigError
from flows.scheduling import listening as hearing
from flows.scheduling.listening import judge, listening
from flows.scheduling.schedules import Schedule
from flows.scheduling.watching import RegistryWatch, digest_folders

NOON = datetime(2026, 11, 23, 12, tzinfo=UTC)


def test_mlflow_signs_as_these_tests_do():
    delivery = pytest.importorskip("mlflow.webhooks.delivery")
    ours = signed(BODY)["X-MLflow-Signature"]
    assert delivery._generate_hmac_signature(SECRET, "d1", str(NOW), BODY.decode()) == ours


def test_a_signed_event_counts_within_its_window():
    assert judge(signed(BODY), BODY, SECRET, NOW) == (200, "net")
    assert judge(signed(BODY), BODY, SECRET, NOW + 300) == (200, "net")
    assert judge(signed(BODY), BODY, SECRET, NOW + 301) == (401, None)


@pytest.mark.parametrize(
    "changed",
    [
        {"X-MLflow-Signature": None},
        {"X-MLflow-Signature": ""},
        {"X-MLflow-Signature": "v1,"},
        {"X-MLflow-Signature": signed(BODY)["X-MLflow-Signature"].replace("v1", "v2")},
        {"X-MLflow-Signature": signed(BODY, secret="guessed")["X-MLflow-Signature"]},
        {"X-MLflow-Signature": "v1,\udcff"},
        {"X-MLflow-Delivery-Id": "d2"},
        {"X-MLflow-Delivery-Id": None},
        {"X-MLflow-Timestamp": str(NOW + 1)},
        {"X-MLflow-Timestamp": None},
    ],
)
def test_what_is_not_signed_is_refused(changed):
    headers = {name: text for name, text in (signed(BODY) | changed).items() if text is not None}
    assert judge(headers, BODY, SECRET, NOW) == (401, None)


@pytest.mark.parametrize("moment", [NOW - 301, NOW + 301, "", "soon", "-1", "9" * 400, "१"])
def test_a_moment_that_is_not_now_is_refused_though_signed(moment):
    assert judge(signed(BODY, moment=moment), BODY, SECRET, NOW) == (401, None)


@pytest.mark.parametrize(
    "content",
    [b"", b"\xff", b"[]", b"{}", b"[" * 60000, b'{"entity": 1, "action": [], "data": {}}'],
)
def test_what_is_signed_and_no_event_is_refused(content):
    assert judge(signed(content), content, SECRET, NOW).status in (200, 400)
    assert judge(signed(content), content, SECRET, NOW).model is None


@pytest.mark.parametrize(
    ("kind", "model"),
    [
        (("model_version_alias", "created"), "net"),
        (("model_version_alias", "deleted"), "net"),
        (("model_version_tag", "set"), None),
        (("registered_model", "created"), None),
        (("prompt_version", "created"), None),
    ],
)
def test_versions_and_aliases_count(kind, model):
    body = json.dumps(EVENT | dict(zip(("entity", "action"), kind, strict=True))).encode()
    assert judge(signed(body), body, SECRET, NOW) == (200, model)


@given(st.binary(max_size=200), st.dictionaries(st.text(max_size=9), st.text(max_size=9)))
def test_no_stranger_is_heard(body, headers):
    assert judge(headers, body, SECRET, NOW) == (401, None)


def test_over_the_network(monkeypatch):
    heard = []
    monkeypatch.setattr(hearing, "REQUEST_SECONDS", 1)
    with listening("127.0.0.1", 0, SECRET, heard.append) as port:
        now = int(time.time())
        assert asked(port, BODY, signed(BODY, moment=now)) == 200
        assert asked(port, BODY, {}) == 401
        refused = {b"Content-Length: 65537": b" 413 ", b"Transfer-Encoding: chunked": b" 411 "}
        for header, answer in refused.items():  # before a body is sent
            with socket.create_connection(("127.0.0.1", port), timeout=30) as early:
                early.sendall(b"POST / HTTP/1.1\r\n" + header + b"\r\n\r\n")
                assert answer in early.recv(100)
        with socket.create_connection(("127.0.0.1", port), timeout=30) as silent:
            silent.sendall(b"POST / HTTP/1.1\r\nContent-Length: 10\r\n\r\n1")
            assert asked(port, BODY, signed(BODY, "d5", now)) == 200
            assert b" 408 " in silent.recv(100)
        with socket.create_connection(("127.0.0.1", port), timeout=30) as dripping:
            for byte in b"POST / HTTP/1.1 and never a whole line":
                if select.select([dripping], [], [], 0.1)[0]:
                    break
                dripping.sendall(bytes([byte]))
            assert b"400" in dripping.recv(1000)  # an answer, and the end
    assert heard == ["net", "net"]


def test_over_ipv6():
    heard = []
    try:
        with listening("::1", 0, SECRET, heard.append) as port:
            headers = signed(BODY, moment=int(time.time()))
            with closing(http.client.HTTPConnection("::1", port, timeout=30)) as connection:
                connection.request("POST", "/", BODY, headers)
                assert connection.getresponse().status == 200
    except OSError as error:
        pytest.skip(f"this machine has no IPv6: {error}")
    assert heard == ["net"]


def test_where_to_listen(monkeypatch):
    assert hearing.address("127.0.0.1:4300") == ("127.0.0.1", 4300)
    assert hearing.address("[::1]:4300") == ("::1", 4300)
    for wrong in ("4300", "here", "127.0.0.1:", "127.0.0.1:70000", ":1"):
        with pytest.raises(BadInput, match="expected HOST:PORT"):
            hearing.address(wrong)
    monkeypatch.delenv("DECAF_MLFLOW_SECRET", raising=False)
    with pytest.raises(ConfigError, match="DECAF_MLFLOW_SECRET"):
        hearing.load_secret()


def schedule(folder, name="nightly", kind="mlflow", **changed):
    config = folder / f"{name}.yaml"
    registry = {"kind": kind, "root": "zoo", "uri": "http://127.0.0.1:9"}
    config.write_text(yaml.safe_dump({"study": name, "registry": registry}))
    made = Schedule(name, name, "0 2 * * *", "UTC", config, folder, False, True, True)
    return made._replace(**changed)


def at(seconds):
    return NOON + timedelta(seconds=seconds)


def test_several_events_are_one_run(tmp_path):
    watch, schedules = RegistryWatch(), [schedule(tmp_path)]
    found = {}
    for second in range(60):
        if second in (1, 3, 4):
            watch.changed_models.put(f"net{second}")
        if due := watch.due(schedules, at(second), busy=()):
            found[second] = due
    # The last came at 4 s, and nothing for five seconds.
    assert found == {9: {"nightly": ["net1", "net3", "net4"]}}


def test_events_without_end_begin_a_run_all_the_same(tmp_path):
    watch, schedules = RegistryWatch(), [schedule(tmp_path)]
    begun = []
    for second in range(70):
        watch.changed_models.put("net")
        begun += [second] * bool(watch.due(schedules, at(second), busy=()))
    assert begun == [30, 61]


def test_an_event_during_a_run_is_one_run_more_afterwards(tmp_path):
    watch, schedules = RegistryWatch(), [schedule(tmp_path)]
    begun = []
    for second in range(60):
        if second in (5, 12, 20):
            watch.changed_models.put("net")
        busy = ["nightly"] if second < 40 else []
        begun += [second] * bool(watch.due(schedules, at(second), busy))
    assert begun == [40]


def test_who_is_not_watched_or_paused_or_removed_is_not_due(tmp_path):
    watch = RegistryWatch()
    asleep = [
        schedule(tmp_path, "a", is_watched=False),
        schedule(tmp_path, "b", is_paused=True),
        schedule(tmp_path, "c", config=tmp_path / "absent.yaml"),
    ]
    removed = schedule(tmp_path, "d")
    watch.changed_models.put("net")
    assert watch.due([*asleep, removed], NOON, busy=()) == {}
    assert watch.due(asleep, at(60), busy=()) == {}
    assert watch.due([*asleep, removed], at(120), busy=()) == {}


def test_a_changed_folder_is_seen_by_its_entry(tmp_path):
    zoo = tmp_path / "zoo"
    for name in ("one", "two", ".hidden"):
        (zoo / name / "1").mkdir(parents=True)
        (zoo / name / "1" / "decaf.yaml").write_text("a: 1")
    watch, schedules = RegistryWatch(), [schedule(tmp_path, kind="folder")]
    assert watch.due(schedules, at(0), busy=()) == {}
    (zoo / "two" / "2").mkdir()
    (zoo / "two" / "2" / "decaf.yaml").write_text("a: 2")
    (zoo / ".hidden" / "1" / "decaf.yaml").write_text("a: 3")
    (zoo / "three").mkdir()
    assert watch.due(schedules, at(5), busy=()) == {}
    assert watch.due(schedules, at(10), busy=()) == {"nightly": ["three", "two"]}
    assert watch.due(schedules, at(60), busy=()) == {}


def test_a_look_opens_no_file_and_follows_no_link(tmp_path):
    (tmp_path / "zoo" / "net").mkdir(parents=True)
    os.mkfifo(tmp_path / "zoo" / "net" / "pipe")
    (tmp_path / "zoo" / "net" / "round").symlink_to(tmp_path / "zoo")
    before = digest_folders(tmp_path / "zoo")
    assert digest_folders(tmp_path / "zoo") == before
    (tmp_path / "zoo" / "net" / "more").write_text("")
    assert digest_folders(tmp_path / "zoo").keys() == {"net"}
    assert digest_folders(tmp_path / "zoo") != before
