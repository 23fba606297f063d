"""Answers of an MLflow server that are not MLflow's: one entry fails by name, and no other."""

from contextlib import closing
from urllib.parse import parse_qs, urlsplit

import pytest
from ended_commands import refused
from raw_server import answer, misbehaving, of_json, once
from registry_folder import put_small_cnn
from small_studies import of_scenes

from decaf.errors import RegistryError
from decaf.registry.mlflow_client import MlflowServer, Unfit

LISTED = {
    "is not JSON": b"<html>",
    "is nothing": b"",
    "is a list": b"[]",
    "has NaN as a moment": b'{"registered_models": NaN}',
    "has a number as models": b'{"registered_models": 3}',
    "has a model without name": b'{"registered_models": [{}]}',
    "has a list as name": b'{"registered_models": [{"name": [1]}]}',
    "has half a character": b'{"registered_models": [{"name": "\\ud800"}]}',
    "has aliases of another kind": (b'{"registered_models": [{"name": "a", "aliases": {"b": 1}}]}'),
}


@pytest.mark.parametrize("listing", LISTED)
def test_a_listing_that_is_not_mlflows(listing):
    with misbehaving(once(answer(LISTED[listing]))) as server:
        with closing(MlflowServer(server.url, 0.5, 5)) as asked, pytest.raises(Unfit) as refusal:
            list(asked.models())
        assert server.url in str(refusal.value)


def test_pages_are_asked_for_until_the_last_or_the_deadline():
    def behave(connection, path, released):
        token = f"p{len(server.asked)}" if is_endless or len(server.asked) < 3 else ""
        items = {"registered_models": [{"name": "a"}], "next_page_token": token}
        connection.sendall(of_json(items))

    with misbehaving(behave) as server:
        is_endless = False
        with closing(MlflowServer(server.url, 0.5, 30)) as asked:
            assert len(list(asked.models())) == 3
        is_endless = True
        with closing(MlflowServer(server.url, 0.5, 0.5)) as asked, pytest.raises(RegistryError):
            list(asked.models())


@pytest.fixture
def plan(tmp_path, write, decaf, prefect_server, workers):
    """Plan a re-audit of an MLflow server at an address."""

    def planned(url, **registry):
        limits = {"timeout_seconds": 0.5, "deadline_seconds": 30}
        settings = {"kind": "mlflow", "uri": url} | limits | registry
        config = write(of_scenes(tmp_path, registry=settings, cluster=workers))
        return decaf("reaudit", config, "--plan", NO_PROXY="127.0.0.1", **prefect_server)

    return planned


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


def test_what_is_wrong_with_one_entry_is_no_other_s_fault(plan, tmp_path):
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
        done = plan(server.url, follow=["latest", "champion"])
    refused(done, *PROBLEMS, code=1)
    told = done.stdout
    lines = {line.split(": ")[0]: line for line in told.splitlines() if ": " in line}
    assert lines.keys() & set(PROBLEMS) == set(PROBLEMS)
    assert "good" not in lines
    for entry, words in PROBLEMS.items():
        assert words in lines[entry]


def test_files_that_are_not_as_listed(plan):
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
        done = plan(server.url)
    refused(done, "huge", "long", code=1)
    told = done.stdout
    assert "long: MLflow at" in told
    assert "an answer of more than 10 bytes" in told
    assert "lists 'decaf.yaml' with 1,000,000,000,000,000 bytes" in told
