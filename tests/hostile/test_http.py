"""Servers that hang, drip, send too much or something else: each call ends, and says why."""

import json
import time
from contextlib import ExitStack
from urllib.parse import parse_qs, urlsplit

import pytest
from ended_commands import refused
from raw_server import WAYS, answer, misbehaving, of_json, once
from registry_folder import put_small_cnn
from small_studies import of_scenes
from warehouse_answers import fetched

HOOK = {"deadline_seconds": 0.8, "timeout_seconds": 0.3, "retries": 1, "backoff_seconds": 0.01}
ENVIRONMENT = {"NO_PROXY": "127.0.0.1", "DECAF_WEBHOOK_SECRET": "s3cret"}
MOST_SECONDS = 60
"""Against hangs; a call has a second."""


@pytest.fixture
def reaudit(tmp_path, write, decaf, prefect_server, workers):
    """Re-audit a registry in an empty folder: reaudit(registry, *options, alerts=…)."""

    def done(registry, *options, **changed):
        config = write(of_scenes(tmp_path, registry=registry, cluster=workers, **changed))
        began = time.monotonic()
        ended = decaf("reaudit", config, *options, **ENVIRONMENT, **prefect_server)
        assert time.monotonic() - began < MOST_SECONDS
        return ended

    return done


def mlflow(server, **changed):
    limits = {"timeout_seconds": 0.3, "deadline_seconds": 0.6}
    return {"kind": "mlflow", "uri": server.url} | limits | changed


NOTHING_COMES = "no whole answer within"
OF_WAYS = {
    "is silent": "ReadTimeout",
    "drips headers": NOTHING_COMES,
    "drips the status line": NOTHING_COMES,
    "drips content": NOTHING_COMES,
    "drips chunks": NOTHING_COMES,
    "says continue for ever": NOTHING_COMES,
    "sends without end": "an answer of more than 33,554,432 bytes",
    "sends a bomb": "an answer of more than 33,554,432 bytes",
    "sends a bomb in a bomb": "encoded as 'gzip, gzip'; expected gzip",
    "sends gzip that is none": "gzip that is damaged",
    "sends half a gzip": "gzip that is cut short",
    "sends brotli": "encoded as 'br'; expected gzip",
    "breaks off": "peer closed connection",
    "hangs up": "disconnected without sending a response",
    "speaks something else": "RemoteProtocolError",
    "has long headers": "RemoteProtocolError",
    "redirects elsewhere": "a redirect to 'http://198.51.100.7/': redirects are not followed",
    "redirects to a file": "redirects are not followed",
    "says 500": "status 500",
    "says 204": "status 204",
}


@pytest.mark.parametrize("way", WAYS)
def test_a_registry_that(way, reaudit):
    with misbehaving(way) as server:
        refused(reaudit(mlflow(server), "--plan"), server.url, OF_WAYS[way])


DEEP = b'{"registered_models": ' + b"[" * 100_000
LISTED = {
    "is not JSON": (b"<html>", "Invalid JSON"),
    "is nothing": (b"", "Invalid JSON"),
    "is 100,000 deep": (DEEP, "Invalid JSON: recursion limit exceeded"),
    "is a list": (b"[]", "all of it"),
    "has NaN as a moment": (b'{"registered_models": NaN}', "registered_models: Input should be"),
    "has a number as models": (b'{"registered_models": 3}', "registered_models: Input should be"),
    "has a model without name": (b'{"registered_models": [{}]}', "registered_models.0.name"),
    "has a list as name": (b'{"registered_models": [{"name": [1]}]}', "registered_models.0.name"),
    "has half a character": (b'{"registered_models": [{"name": "\\ud800"}]}', "Invalid JSON"),
    "has an endless name": (
        b'{"registered_models": [{"name": "' + b"n" * 1_000_000 + b'"}]}',
        "at most 4096 characters",
    ),
    "has numbers of 5,000 digits": (
        b'{"registered_models": [{"name": ' + b"9" * 5000 + b"}]}",
        "number out of range",
    ),
    "has aliases of another kind": (
        b'{"registered_models": [{"name": "a", "aliases": {"b": 1}}]}',
        "registered_models.0.aliases",
    ),
}


@pytest.mark.parametrize("listing", LISTED)
def test_a_listing_that(listing, reaudit):
    content, words = LISTED[listing]
    with misbehaving(once(answer(content))) as server:
        done = reaudit(mlflow(server), "--plan")
    assert len(refused(done, "something else than MLflow does", words)) < 2000


@pytest.mark.parametrize("token", ["the same", "another each time"])
def test_pages_that_never_end(token, reaudit):
    def behave(connection, path, released):
        number = len(server.asked) if token == "another each time" else 0
        items = {"registered_models": [], "next_page_token": f"p{number}"}
        connection.sendall(of_json(items))

    with misbehaving(behave) as server:
        done = reaudit(mlflow(server, deadline_seconds=30), "--plan")
        assert len(server.asked) == 1000
    refused(done, "lists without end: more than 1000 pages")


MANY = ["good", "gone", "late", "moved", "nowhere", "odd", "outside", "s3", "pending", "typed"]
PLACES = {
    "late": of_json({"artifact_uri": ["no", "text"]}),
    "moved": answer(b"", "Location: http://198.51.100.7/", status="307 Moved"),
    "nowhere": of_json({"artifact_uri": "/not/there"}),
    "odd": of_json({}),
    "s3": of_json({"artifact_uri": "s3://bucket/model"}),
    "typed": answer(b"<html>"),
}
PROBLEMS = {
    "good@champion": "has no version '7' of good; it lists 1: set the alias again",
    "gone": "with status 404",
    "late": "artifact_uri: Input should be a valid string",
    "moved": "a redirect to 'http://198.51.100.7/': redirects are not followed",
    "nowhere": "/not/there cannot be read",
    "odd": "artifact_uri: Field required",
    "outside": "lists '../../etc/passwd', which is no name",
    "pending": "version 1 of pending is PENDING_REGISTRATION, not READY",
    "s3": "artefacts lie at s3://bucket/model, which only MLflow's client can open",
    "typed": "Invalid JSON",
}


def test_what_is_wrong_with_one_entry_is_no_other_s_fault(reaudit, tmp_path):
    folder = put_small_cnn(tmp_path / "good")

    def said(path):
        asked = urlsplit(path)
        name = parse_qs(asked.query).get("name", [""])[0]
        if "registered-models" in path:
            aliases = [{"alias": "champion", "version": 7}]
            models = [{"name": name} for name in MANY]
            return of_json({"registered_models": [models[0] | {"aliases": aliases}, *models[1:]]})
        if "model-versions/search" in path:
            versions = [{"name": name, "version": 1, "extra": [[]]} for name in MANY]
            versions[MANY.index("pending")]["status"] = "PENDING_REGISTRATION"
            return of_json({"model_versions": versions})
        if "get-download-uri" in path:
            place = {"good": str(folder), "outside": "mlflow-artifacts:/outside"}
            found = of_json({"artifact_uri": place[name]}) if name in place else None
            return found or PLACES.get(name, answer(b"none", status="404 Not Found"))
        return of_json({"files": [{"path": "../../etc/passwd", "file_size": 3}]})

    def behave(connection, path, released):
        connection.sendall(said(path))

    with misbehaving(behave) as server:
        registry = mlflow(server, follow=["latest", "champion"], deadline_seconds=30)
        done = reaudit(registry, "--plan")
    refused(done, *PROBLEMS, code=1)
    told = done.stdout
    lines = {line.split(": ")[0]: line for line in told.splitlines() if ": " in line}
    assert lines.keys() & set(PROBLEMS) == set(PROBLEMS)
    assert "good" not in lines
    for entry, words in PROBLEMS.items():
        assert words in lines[entry]


def test_files_that_are_not_as_listed(reaudit):
    """Each of two entries fails by name: one file is longer than listed, one has no room."""
    sizes = {"long": 10, "huge": 10**15}

    def said(path):
        if "registered-models" in path:
            return of_json({"registered_models": [{"name": name} for name in sizes]})
        if "model-versions/search" in path:
            return of_json({"model_versions": [{"name": name, "version": 1} for name in sizes]})
        if "get-download-uri" in path:
            name = parse_qs(urlsplit(path).query)["name"][0]
            return of_json({"artifact_uri": f"mlflow-artifacts:/{name}"})
        if "?" in path:
            name = parse_qs(urlsplit(path).query)["path"][0]
            return of_json({"files": [{"path": "decaf.yaml", "file_size": sizes[name]}]})
        return answer(b"x" * 1000)

    def behave(connection, path, released):
        connection.sendall(said(path))

    with misbehaving(behave) as server:
        done = reaudit(mlflow(server, deadline_seconds=30), "--plan")
    refused(done, "huge", "long", code=1)
    told = done.stdout
    assert "long: MLflow at" in told
    assert "an answer of more than 10 bytes" in told
    assert "lists 'decaf.yaml' with 1,000,000,000,000,000 bytes" in told


UNREACHABLE = {"kind": "folder", "root": "not/there"}
OF_STATUS_ALONE = {
    name: words
    for name, words in OF_WAYS.items()
    if name.startswith(("is silent", "drips h", "says c", "hangs", "speaks", "redir"))
} | {"says 500": "2 attempts, the last ended with status 500"}


@pytest.mark.parametrize("way", OF_STATUS_ALONE)
def test_a_receiver_of_alerts_that(way, reaudit):
    with misbehaving(way) as server:
        hook = HOOK | {"url": server.url}
        done = reaudit(UNREACHABLE, alerts={"webhook": hook})
    refused(done, f"webhook {server.url} took no alert", OF_STATUS_ALONE[way], code=3)


@pytest.mark.parametrize("wished", ["86400", "9" * 400, "Fri, 31 Dec 9999 23:59:59 GMT"])
def test_a_receiver_that_asks_for_a_day(wished, reaudit):
    busy = answer(b"", f"Retry-After: {wished}", status="503 Busy")
    with misbehaving(once(busy)) as server:
        done = reaudit(UNREACHABLE, alerts={"webhook": HOOK | {"url": server.url}})
    refused(done, "1 attempts, the last ended with status 503", code=3)


def test_a_receiver_that_says_nothing_of_content_is_content(reaudit):
    """What it sends beside a status is not read, however long it is."""
    with misbehaving("drips content") as server:
        done = reaudit(UNREACHABLE, alerts={"webhook": HOOK | {"url": server.url}})
    refused(done, "not/there")


ANSWERS = {
    "good": (None, ""),
    "html": (b"<html>", "returned '<html>'; expected"),
    "deep": (b"[" * 100_000, "nested too deeply"),
    "list": (b"[]", "list indices must be integers"),
    "words": (b'{"outputs": [["a", "b"]]}', "an output is no number"),
    "ragged": (b'{"outputs": [[1]]}', ""),
    "nested": (b'{"outputs": [[[1, 2]]]}', "an output is no number"),
    "empty": (b'{"outputs": []}', "0 lists for 1 inputs"),
    "digits": (b'{"outputs": [[1, ' + b"9" * 5000 + b"]]}", "Exceeds the limit"),
    "nan": (b'{"outputs": [[NaN, NaN]]}', ""),
}
WAYS_OF_ENDPOINTS = ["drips headers", "drips content", "sends a bomb", "sends half a gzip"]
WAYS_OF_ENDPOINTS += ["redirects elsewhere", "sends brotli", "breaks off", "says continue for ever"]


@pytest.mark.slow
def test_a_night_of_endpoints(reaudit, tmp_path):
    """One re-audit: every endpoint that misbehaves fails by name, the good one is audited."""

    def endpoint(name, server):
        limits = HOOK | {"rows_per_request": 64}
        return {"id": name, "family": name, "url": server.url, "output": "logits"} | limits

    def first_told(behave):
        def version_then(connection, path, released):
            if path.endswith("/version"):
                connection.sendall(answer(b"", "X-Model-Version: 1"))
            else:
                behave(connection, path, released)

        return version_then

    names = {way.replace(" ", "_"): (WAYS[way], OF_WAYS[way]) for way in WAYS_OF_ENDPOINTS}
    bad = {name: given for name, given in ANSWERS.items() if given[1]}
    names |= {name: (once(answer(content)), words) for name, (content, words) in bad.items()}
    with ExitStack() as stack:
        cards = []
        for name, (behave, _) in names.items():
            server = stack.enter_context(misbehaving(first_told(behave)))
            cards.append(endpoint(name, server) | {"version_url": f"{server.url}/version"})
        done = reaudit({"kind": "endpoints", "endpoints": cards})
    message = refused(done, f"{len(names)} of its findings need attention", code=1)
    lines = {line.split()[0]: line for line in message.splitlines() if line.startswith("  ")}
    for name, (_, words) in names.items():
        assert words in lines[name]


@pytest.mark.slow
def test_a_re_audit_is_kept_though_nobody_takes_its_alerts(reaudit, tmp_path):
    put_small_cnn(tmp_path / "zoo" / "good")
    (tmp_path / "zoo" / "bad").mkdir()
    registry = {"kind": "folder", "root": str(tmp_path / "zoo")}
    with misbehaving("says 500") as server:
        alerts = {"webhook": HOOK | {"url": server.url}}
        refused(reaudit(registry, alerts=alerts), "took no alert: 2 attempts", code=3)
        assert len(server.asked) == 2
    (count,) = fetched(tmp_path / "warehouse", "SELECT count(*) FROM out_model_profiles")
    assert count == (2,)
    with misbehaving(once(answer(b"", status="204 Taken"))) as server:
        alerts = {"webhook": HOOK | {"url": server.url}}
        told = reaudit(registry, "--json", alerts=alerts)
        assert len(server.asked) == 1
    assert told.returncode == 1
    assert json.loads(told.stdout)["alerts"]
