"""HTTP calls against a server that hangs, drips, breaks off, redirects or answers in full."""

import gzip
import io
import time

import pytest
from raw_server import WAYS, answer, misbehaving, of_json, once

from decaf.foundation.calls import Caller, NoAnswer
from decaf.foundation.retries import last_answer

SILENCE, DEADLINE = 0.3, 0.6
ENDED = {
    "is silent": True,
    "drips content": True,
    "drips chunks": True,
    "sends without end": True,
    "sends gzip that is none": True,
    "breaks off": True,
    "hangs up": True,
    "speaks something else": True,
    "has long headers": True,
}
"""Ways without an answer, and whether the same call may be answered later."""
STATUSES = {
    "redirects elsewhere": 301,
    "redirects to a file": 302,
    "says 500": 500,
    "says 204": 204,
}


@pytest.fixture
def caller():
    opened = Caller(SILENCE)
    yield opened
    opened.close()


def test_every_way_has_its_outcome():
    assert WAYS.keys() == ENDED.keys() | STATUSES.keys()


@pytest.mark.parametrize("way", ENDED)
def test_a_call_without_an_answer_ends(way, caller):
    with misbehaving(way) as server, pytest.raises(NoAnswer) as ended:
        caller.call("GET", server.url, DEADLINE)
    assert ended.value.may_pass is ENDED[way]


@pytest.mark.parametrize("way", STATUSES)
def test_a_status_is_an_answer_and_no_redirect_is_followed(way, caller):
    with misbehaving(way) as server:
        answered = caller.call("GET", server.url, DEADLINE)
        assert len(server.asked) == 1
    assert answered.status == STATUSES[way]
    assert answered.is_success == (way == "says 204")
    assert ("a redirect to" in answered.status_text) == way.startswith("redirects")


def test_content_is_decoded(caller):
    packed = answer(gzip.compress(b'{"a": 1}'), "Content-Encoding: gzip")
    with misbehaving(once(packed)) as server:
        assert caller.call("GET", server.url, DEADLINE).json() == {"a": 1}


def test_a_file_gets_no_more_bytes_than_are_expected(caller):
    with misbehaving(once(answer(b"x" * 10))) as server:
        file = io.BytesIO()
        caller.call("GET", server.url, DEADLINE, into=file, most_bytes=10)
        assert file.getvalue() == b"x" * 10
        with pytest.raises(NoAnswer) as ended:
            caller.call("GET", server.url, DEADLINE, into=io.BytesIO(), most_bytes=9)
    assert not ended.value.may_pass


def test_content_that_nobody_asks_for_is_not_read(caller):
    with misbehaving("drips content") as server:
        answered = caller.call("GET", server.url, DEADLINE, most_bytes=0)
    assert (answered.status, answered.content) == (200, b"")


@pytest.mark.parametrize("url", ["http://[", "http://a\0b/", "no address"])
def test_an_address_that_is_none_is_not_called_again(url, caller):
    with pytest.raises(NoAnswer):
        caller.call("GET", url, DEADLINE)


def test_no_call_begins_after_the_deadline(caller):
    with misbehaving(once(of_json({}))) as server:
        with pytest.raises(NoAnswer):
            caller.call("GET", server.url, 0)
        assert server.asked == []


@pytest.mark.parametrize("wished", ["86400", "9" * 400, "Fri, 31 Dec 9999 23:59:59 GMT"])
def test_a_server_that_asks_for_a_day_is_not_waited_for(wished, caller):
    busy = answer(b"", f"Retry-After: {wished}", status="503 Busy")
    with misbehaving(once(busy)) as server:
        began = time.monotonic()
        answered = last_answer(lambda left: caller.call("GET", server.url, left), 5, 3, 0.01)
        assert time.monotonic() - began < 5
        assert len(server.asked) == 1
    assert (answered.status, answered.attempts) == (503, 1)
