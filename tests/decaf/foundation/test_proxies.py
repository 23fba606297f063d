"""Proxies of the environment lead to other machines, and never to this one."""

import os

import httpx
import pytest
from raw_server import answer, misbehaving, once

from decaf.errors import BadInput
from decaf.foundation.calls import Caller
from decaf.foundation.proxies import bypass_proxies

LOOPBACK = "127.0.0.1,localhost,::1"
BOTH = {"NO_PROXY", "no_proxy"}


@pytest.fixture
def variables(monkeypatch):
    """Set the variables of proxies to these alone."""

    def be(**given):
        for name in [name for name in os.environ if name.lower().endswith("_proxy")]:
            monkeypatch.delenv(name)
        for name, value in given.items():
            monkeypatch.setenv(name, value)

    for name in BOTH:  # so that what the code sets is undone
        monkeypatch.setenv(name, "")
    return be


@pytest.mark.parametrize(
    ("given", "upper", "lower"),
    [
        ({}, None, None),
        ({"HTTP_PROXY": ""}, None, None),
        ({"HTTP_PROXY": "http://p:1"}, LOOPBACK, LOOPBACK),
        ({"all_proxy": "socks5://p:1"}, LOOPBACK, LOOPBACK),
        ({"https_proxy": "p:1", "NO_PROXY": "a.corp, .b"}, *[f"a.corp,.b,{LOOPBACK}"] * 2),
        ({"HTTP_PROXY": "p:1", "no_proxy": "localhost"}, *["localhost,127.0.0.1,::1"] * 2),
        ({"HTTP_PROXY": "p", "no_proxy": "a", "NO_PROXY": "b"}, f"b,{LOOPBACK}", f"a,{LOOPBACK}"),
        ({"HTTP_PROXY": "p:1", "NO_PROXY": "*"}, "*", None),
        ({"NO_PROXY": "[::1],c"}, *[f"c,{LOOPBACK}"] * 2),
    ],
)
def test_loopback_is_added_to_what_the_user_set(given, upper, lower, variables):
    variables(**given)
    bypass_proxies()
    bypass_proxies()
    assert (os.environ.get("NO_PROXY"), os.environ.get("no_proxy")) == (upper, lower)


@pytest.mark.parametrize("name", ["HTTP_PROXY", "http_proxy", "ALL_PROXY", "all_proxy"])
@pytest.mark.parametrize("excepted", [None, "a.corp"])
def test_a_call_elsewhere_goes_through_the_proxy_and_one_to_this_machine_does_not(
    name, excepted, variables
):
    with misbehaving(once(answer(b"proxy"))) as proxy, misbehaving(once(answer(b"own"))) as own:
        variables(**{name: proxy.url}, **({"NO_PROXY": excepted} if excepted else {}))
        caller = Caller(10)
        local = own.url.replace("127.0.0.1", "localhost")
        said = [
            caller.call("GET", url, 10).content
            for url in (own.url, local, "http://elsewhere.invalid/x")
        ]
        caller.close()
    assert said == [b"own", b"own", b"proxy"]
    assert proxy.asked == ["http://elsewhere.invalid/x"]


@pytest.mark.parametrize(
    "given", [{"ALL_PROXY": "socks://p:1"}, {"HTTP_PROXY": ":::"}, {"NO_PROXY": "[::2]"}]
)
def test_what_httpx_cannot_use_is_bad_input_by_its_name(given, variables):
    variables(**given)
    with pytest.raises(BadInput, match=next(iter(given))):
        Caller(10)
    Caller(10, trust_env=False).close()
    variables()
    with pytest.raises(httpx.InvalidURL):
        Caller(10, base_url=":::")
