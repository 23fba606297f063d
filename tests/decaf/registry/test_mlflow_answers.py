"""Answers of an MLflow server that are not MLflow's: one entry fails by name, and no other."""

from contextlib import closing
from urllib.parse import parse_qs, urlsplit

import pytest
from raw_server import answer, misbehaving, of_json, once
from registry_folder import put_small_cnn
from small_studies import of_scenes

from decaf.errors import RegistryError
from decaf.plan.resolution import list_entries, resolve
from decaf.plan.study import load_study
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
def problems_of(tmp_path, write, monkeypatch):
    """Problems of the entries of an MLflow server at an address, by entry."""
    monkeypatch.setenv("NO_PROXY", "127.0.0.1")

    def resolved(url, **registry):
        limits = {"timeout_seconds": 0.5, "deadline_seconds": 30}
        settings = {"kind": "mlflow", "uri": url} | limits | registry
        study = load_study(write(of_scenes(tmp_path, registry=settings)))
        return {
            one.entry.label: one.problem for one in resolve(study, list_entries(study.registry))
        }

    return resolved


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
    "good@champion": "'7'",
    "gone": "404",
    "late": "artifact_uri",
    "moved": "'http://198.51.100.7/'",
    "nowhere": "/not/there",
    "odd": "artifact_uri",
    "outside": "'../../etc/passwd'",
    "pending": "PENDING_REGISTRATION",
    "s3": "s3://bucket/model",
    "typed": "JSON",
}


def test_what_is_wrong_with_one_entry_is_no_other_s_fault(problems_of, tmp_path):
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
        problems = problems_of(server.url, follow=["latest", "champion"])
    assert {entry for entry, problem in problems.items() if problem} == set(PROBLEMS)
    for entry, value in PROBLEMS.items():
        assert value in problems[entry]


def test_files_that_are_not_as_listed(problems_of):
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
        problems = problems_of(server.url)
    assert "10 bytes" in problems["long"]
    assert "'decaf.yaml' with 1,000,000,000,000,000 bytes" in problems["huge"]
