"""Webhooks against real servers on loopback: signed, sent again, and never waited for."""

import hashlib
import hmac
import json
import time

import pytest
from model_server import serving
from pydantic import ValidationError

from decaf.errors import AlertFailed, ConfigError
from decaf.registry.alerts import Alerts, Webhook, append, send, signature

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
            message = f"took no alert: {attempts} attempts, .* status {statuses[-1]}"
            with pytest.raises(AlertFailed, match=message) as failed:
                send(hook(server), "d", {})
            assert SECRET not in str(failed.value)
    assert len(server.requests) == attempts
    assert len({request.headers["X-Decaf-Delivery"] for request in server.requests}) == 1


def test_a_webhook_that_hangs_or_is_not_there_is_given_up():
    def hang(request, number):
        server.released.wait(30)
        return 200, "", {}

    timed_out = pytest.raises(AlertFailed, match="2 attempts, the last ended with ReadTimeout")
    with serving(hang) as server, timed_out:
        send(hook(server, timeout_seconds=0.05, retries=1), "d", {})
    with pytest.raises(AlertFailed, match="1 attempts, the last ended with ConnectError"):
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
