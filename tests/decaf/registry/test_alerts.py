"""Webhooks against real servers on loopback: signed, sent again, and never waited for."""

import hashlib
import hmac
import json
import time
from datetime import timedelta

import pytest
from model_server import serving
from pydantic import ValidationError

from decaf.errors import AlertFailed, ConfigError
from decaf.registry.alerts import Alerts, Webhook, append, faults, run, send, signature
from decaf.registry.messages import MOST_LETTERS, _texts, describe_standing, finding, message

SECRET = "a s3cret"


@pytest.fixture(autouse=True)
def environment(monkeypatch):
    monkeypatch.setenv("NO_PROXY", "127.0.0.1")
    monkeypatch.setenv("DECAF_WEBHOOK_SECRET", SECRET)


def hook(server, **settings):
    return Webhook(url=server.url, **{"backoff_seconds": 0.001, "timeout_seconds": 5} | settings)


def answers(*statuses):
    left = list(statuses)
    return lambda *_: (left.pop(0) if len(left) > 1 else left[0], "", {})


def test_a_body_is_signed_with_its_moment():
    with serving(answers(204)) as server:
        send(hook(server), "day 1", {"alerts": [1]})
    (request,) = server.requests
    stamp = request.headers["X-Decaf-Timestamp"]
    signed = hmac.new(SECRET.encode(), f"{stamp}.".encode() + request.body, hashlib.sha256)
    assert request.headers["X-Decaf-Signature"] == f"sha256={signed.hexdigest()}"
    assert request.headers["X-Decaf-Delivery"] == "day 1"
    assert json.loads(request.body) == {"alerts": [1]}
    assert abs(int(stamp) - time.time()) < 3600
    assert signature(SECRET, stamp, request.body) != signature("x", stamp, request.body)


@pytest.mark.parametrize(
    ("statuses", "attempts"), [((503, 429, 200), 3), ((500,), 5), ((400,), 1), ((302,), 1)]
)
def test_what_may_pass_is_tried_again(statuses, attempts):
    with serving(answers(*statuses)) as server:
        if statuses[-1] == 200:
            send(hook(server), "d", {})
        else:
            message = f"{attempts} attempts?; .* {statuses[-1]}"
            with pytest.raises(AlertFailed, match=message) as failed:
                send(hook(server), "d", {})
            assert SECRET not in str(failed.value)
    assert len(server.requests) == attempts
    assert len({request.headers["X-Decaf-Delivery"] for request in server.requests}) == 1


def test_a_webhook_that_hangs_or_is_not_there_is_given_up():
    def hang(request, number):
        server.released.wait(30)
        return 200, "", {}

    timed_out = pytest.raises(AlertFailed, match="2 attempts; .* ReadTimeout")
    with serving(hang) as server, timed_out:
        send(hook(server, timeout_seconds=0.05, retries=1), "d", {})
    with pytest.raises(AlertFailed, match="1 attempt; .* ConnectError"):
        send(hook(server, retries=0), "d", {})


def test_a_secret_comes_from_the_environment(monkeypatch):
    monkeypatch.delenv("DECAF_WEBHOOK_SECRET")
    with pytest.raises(ConfigError, match="DECAF_WEBHOOK_SECRET is not set"):
        _ = Webhook(url="http://host/").secret
    with pytest.raises(ValidationError, match="put credentials into"):
        Webhook(url="http://user:word@host/")
    assert SECRET not in Webhook(url="http://host/").model_dump_json()


def test_a_file_gets_a_line_for_every_audit(tmp_path):
    alerts = Alerts(file=tmp_path / "new" / "alerts.jsonl")
    for number in range(2):
        append(alerts, {"number": number})
    lines = alerts.file.read_text().splitlines()
    assert [json.loads(line) for line in lines] == [{"number": 0}, {"number": 1}]
    blocked = Alerts(file=tmp_path / "new" / "alerts.jsonl" / "inside")
    with pytest.raises(AlertFailed, match="cannot be written"):
        append(blocked, {})
    assert [path.name for path in (tmp_path / "new").iterdir()] == ["alerts.jsonl"]


ROW = {"metric": "evidence", "rule": "increase", "variant": None, "pair_type": "wall"}
ROW |= {"path": "blend", "found": 0.1, "lower_limit": 0.05, "upper_limit": 0.15}
ROW |= {"gate_limit": 0.02, "level": 0.95, "source_count": None, "planned_source_count": None}
FAILED = {"kind": "gate.failed", "entry": "net@champion", "version": "2", "rows": [ROW] * 7}
FAILED |= {"content_failed_since": "2026-03-01T08:00:00+00:00", "version_before": "1"}
FAILED |= {"entry_failing_since": "2026-02-27T21:30:00+00:00", "version_passed": "0.9"}
PAIR = {"pair_id": "scene_7_wall", "pair_type": "wall", "path": "blend"}
FAILED |= {"strongest_pair": PAIR | {"component": "fragility", "value": 0.25}}


NAMES = {"wall": "wall colour", "blend": "fading in"}


def content(*alerts):
    worded = [
        alert | {"message": message(alert, "/r/nightly.html", "my study.yaml", NAMES)}
        for alert in alerts
    ]
    return {"study": "nightly", "alerts": worded}


def test_a_long_message_keeps_how_to_answer():
    rows = [{**FAILED["rows"][0], "reason": None, "pair_type": "x" * 400}] * 9
    long = message(FAILED | {"rows": rows}, "/r/nightly.html", "my study.yaml", NAMES)
    (text,) = _texts({"alerts": [{"message": long}]})
    assert len(long) > len(text) == MOST_LETTERS
    assert text.splitlines()[-1] == long.splitlines()[-1]


def test_a_failure_stands_since_the_last_pass():
    """A content that failed before, and passed in between, fails since it failed again."""
    again = FAILED | {"content_failed_since": FAILED["entry_failing_since"], "is_followed": True}
    again |= {"entry_failing_since": FAILED["content_failed_since"], "failed_gates": ["evidence"]}
    assert "since 2026-03-01 08:00 UTC;" in describe_standing(again, "study.yaml")


def test_a_message_says_what_to_do():
    head, *rows, more, pair, keep, report, accept = message(
        FAILED, "/r/nightly.html", "my study.yaml", NAMES
    ).splitlines()
    moments = ("2026-03-01 08:00 UTC", "2026-02-27 21:30 UTC")
    assert all(value in head for value in ("net@champion", "2", *moments, "1"))
    (row,) = {*rows}
    values = (
        "evidence",
        "wall colour",
        "fading in",
        "+0.100",
        "[+0.050, +0.150]",
        "95 %",
        "+0.020",
    )
    assert all(value in row for value in values)
    assert "7 limits" in head
    assert "1 limit " in message(FAILED | {"rows": [ROW]}, "", "c", NAMES).partition("\n")[0]
    assert (len(rows), more) == (5, "  and 2 more")
    assert all(
        value in pair
        for value in ("scene_7_wall", "wall colour", "fading in", "fragility", "0.250")
    )
    assert "Strongest" not in message(FAILED | {"strongest_pair": None}, "", "c", NAMES)
    assert "version 0.9" in keep
    assert "Keep" not in message(FAILED | {"version_passed": None}, "", "c", NAMES)
    assert report.endswith("/r/nightly.html")
    assert accept.endswith("decaf accept 'my study.yaml' net@champion --why TEXT")


def test_accuracy_is_on_inputs_of_a_kind():
    clean = {"metric": "accuracy", "variant": "to north", "pair_type": None, "path": None}
    fallen = {"rule": "decrease", "found": -0.18, "gate_limit": 0.03}
    assert "−0.180 [" in finding(ROW | fallen, NAMES)
    assert "−0.030" in finding(ROW | fallen, NAMES)
    early = {"source_count": 96, "planned_source_count": 1644}
    assert "96 of 1,644 sources" in finding(ROW | early, NAMES)
    assert all(
        value in finding(ROW | clean, NAMES) for value in ("accuracy", "'to north'", "+0.100")
    )
    standing = message(FAILED | {"kind": "gate.standing"}, "r", "c", NAMES)
    assert standing.startswith("net@champion version 2 still")
    lost = {"kind": "registry.failed", "problem": "no answer"}
    assert message(lost, "r", "c", NAMES).endswith(": no answer")


@pytest.mark.parametrize("name", ["slack", "teams"])
def test_chats_get_unsigned_text_without_markup(name, monkeypatch):
    monkeypatch.delenv("DECAF_WEBHOOK_SECRET")
    shouting = {"kind": "entry.failed", "entry": "<!channel> [x](http://x)", "version": "1"}
    many = [shouting | {"problem": "long " * 900}, *[FAILED] * 20]
    with serving(answers(200)) as server:
        send(hook(server, format=name), "d", content(*many))
    (request,) = server.requests
    assert "X-Decaf-Signature" not in request.headers
    body = json.loads(request.body)
    if name == "slack":
        header, *sections, more = body["blocks"]
        assert header["text"]["text"] == "decaf, study nightly: 21 alerts"
        assert {section["text"]["type"] for section in body["blocks"]} == {"plain_text"}
        assert all(len(section["text"]["text"]) <= 3000 for section in sections)
        assert more["text"]["text"] == "and 6 more"
        assert len(body["blocks"]) <= 50
        assert "<" not in body["text"]
        assert "&lt;!channel&gt;" in body["text"]
    else:
        (attachment,) = body["attachments"]
        assert attachment["contentType"] == "application/vnd.microsoft.card.adaptive"
        card = attachment["content"]
        assert (body["type"], card["type"], card["version"]) == ("message", "AdaptiveCard", "1.4")
        assert {block["type"] for block in card["body"]} == {"RichTextBlock"}
        assert card["body"][-1]["inlines"][0]["text"] == "and 6 more"
        assert len(request.body) < 28_000


def test_the_address_of_a_chat_is_not_repeated():
    chat = Webhook(url="http://127.0.0.1:9/T0/B0/s3cret", format="slack", retries=0)
    with pytest.raises(AlertFailed, match="http://127.0.0.1:9/…") as failed:
        send(chat, "d", content())
    assert "s3cret" not in str(failed.value)


def test_a_command_gets_the_alerts_and_ends(tmp_path):
    copy = "import sys; open(sys.argv[1], 'w').write(sys.stdin.read())"
    target = tmp_path / "told; touch no"
    run(Alerts(command=["python3", "-c", copy, str(target)]), content(FAILED))
    assert json.loads(target.read_text()) == content(FAILED)
    assert [path.name for path in tmp_path.iterdir()] == [target.name]
    with pytest.raises(AlertFailed, match="false .* 1"):
        run(Alerts(command=["false"]), {})
    with pytest.raises(AlertFailed, match="no-such-program .* No such file"):
        run(Alerts(command=["no-such-program"]), {})
    began = time.monotonic()
    slow = Alerts(command=["sh", "-c", "sleep 300 & sleep 300"], command_seconds=0.2)
    with pytest.raises(AlertFailed, match="sh .* 0.2 s"):
        run(slow, {"long": "x" * 1_000_000})
    assert time.monotonic() - began < 60


def test_receivers_are_tried_without_an_alert(tmp_path, monkeypatch):
    (tmp_path / "file").touch()
    with serving(answers(200)) as server:
        good = Alerts(
            webhook=[{"url": server.url}, {"url": server.url, "format": "slack"}],
            file=tmp_path / "new" / "alerts.jsonl",
            command=["python3"],
        )
        assert list(faults(good)) == []
        assert server.requests == []
        url = server.url
    monkeypatch.delenv("DECAF_WEBHOOK_SECRET")
    bad = Alerts(
        webhook=[{"url": url}, {"url": url, "format": "teams"}],
        file=tmp_path / "file" / "alerts.jsonl",
        command=["no-such-program"],
    )
    secret, first_away, away, file, program = faults(bad)
    assert "DECAF_WEBHOOK_SECRET is not set" in secret
    assert f"{url} does not answer: ConnectError" in first_away
    assert "/… does not answer: ConnectError" in away
    assert "alerts.jsonl cannot be written" in file
    assert "no-such-program was not found" in program
    assert list(faults(Alerts(file=tmp_path)))
    (blocked,) = faults(Alerts(file=__file__ + "/alerts.jsonl"))
    assert f"{__file__} is in its way" in blocked
    monkeypatch.setattr("os.access", lambda *_: False)
    (locked,) = faults(Alerts(file=tmp_path / "alerts.jsonl"))
    assert str(tmp_path) in locked
    assert "in its way" not in locked


def test_one_webhook_is_a_list_of_one():
    assert Alerts(webhook={"url": "http://host/"}).webhook == (Webhook(url="http://host/"),)
    assert Alerts(webhook=None).webhook == Alerts().webhook == ()
    assert Alerts(remind="7d").reminder == timedelta(days=7)
    assert Alerts(remind="12h").reminder == timedelta(hours=12)
    for wrong in ("7", "0d", "7 days", "1w"):
        with pytest.raises(ValidationError, match="remind"):
            Alerts(remind=wrong)


@pytest.mark.parametrize(
    ("settings", "count", "words"),
    [
        ({}, 0, []),
        ({}, 2, ["2 alerts", "no webhook"]),
        ({"file": "told.jsonl"}, 0, ["no alert"]),
        (
            {"webhook": {"url": "http://a/b"}, "file": "told.jsonl", "command": ["cat", "-"]},
            1,
            ["1 alert ", "webhook http://a/b", "told.jsonl", "command cat"],
        ),
        ({"webhook": {"url": "http://a/s3cret", "format": "slack"}}, 1, ["webhook http://a/…"]),
    ],
)
def test_a_delivery_names_its_receivers_and_no_secret_address(settings, count, words):
    delivery = Alerts(**settings).describe_delivery(count)
    assert bool(delivery) == bool(words)
    assert [word for word in words if word not in delivery] == []
    assert "s3cret" not in delivery


def test_alerts_without_a_receiver_are_named_as_events_only_if_there_are_events():
    alerts = Alerts()
    assert "not sent" in alerts.describe_delivery(1)
    emitted = alerts.describe_delivery(1, has_events=True)
    assert "Prefect events" in emitted
    assert "not sent" not in emitted
