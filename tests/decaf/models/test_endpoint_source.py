"""HTTP endpoints, against a real server on loopback that behaves well and badly."""

import contextlib
import json
import pickle
import socket
import weakref

import pytest
import torch
from model_server import decode, serving, well
from pydantic import ValidationError

from decaf.errors import ModelError, ScoringFailed
from decaf.foundation import retries
from decaf.models.sources.endpoint import EndpointCard

SECRET = "s3cret-t0ken"
BATCH = torch.rand(5, 3, 2, 2, generator=torch.Generator().manual_seed(0))


@pytest.fixture(autouse=True)
def _no_proxy(monkeypatch):
    monkeypatch.setenv("NO_PROXY", "127.0.0.1")


@pytest.fixture
def pauses(monkeypatch):
    """Pauses that were made, none of which takes time."""
    made = []
    monkeypatch.setattr(retries.time, "sleep", made.append)
    return made


def card(url, **changes):
    settings = {"id": "one", "family": "any", "source": "endpoint", "version": "1"}
    return EndpointCard(url=url, output="logits", **{**settings, **changes})


def ask(server, batch=BATCH, **changes):
    return card(server.url, **changes).load("cpu").outputs(batch)


def expected(batch=BATCH):
    level = batch.double().mean(dim=(1, 2, 3))
    return torch.stack([level, -level], dim=1)


@pytest.mark.parametrize("encoding", ["json", "base64"])
def test_a_batch_is_answered_in_requests_of_few_rows(encoding):
    with serving(well) as server:
        found = ask(server, encoding=encoding, rows_per_request=2)
        assert [len(decode(json.loads(r.body)["inputs"])) for r in server.requests] == [2, 2, 1]
        assert len(server.connections) == 1, "connections are reused"
        assert server.requests[0].headers["Content-Type"] == "application/json"
    torch.testing.assert_close(found, expected(), rtol=0, atol=1e-12)
    assert found.dtype == torch.float64


@pytest.mark.parametrize("failure", [500, 502, 503, 429, 408])
def test_a_server_that_recovers_is_asked_again(pauses, failure):
    with serving(lambda r, n: well(r, n) if n > 2 else (failure, "later", {})) as server:
        torch.testing.assert_close(ask(server), expected(), rtol=0, atol=1e-12)
        assert len(server.requests) == 3
    assert pauses == [0.5, 1.0]


def test_pauses_double_up_to_a_limit(pauses):
    with serving(lambda r, n: (503, "busy", {})) as server, pytest.raises(ScoringFailed) as failed:
        ask(server, retries=5, backoff_seconds=1.0, longest_backoff_seconds=6.0)
    assert pauses == [1.0, 2.0, 4.0, 6.0, 6.0]
    message = str(failed.value)
    for part in (server.url, "6 attempts", "status 503: 'busy'", "run the same command again"):
        assert part in message


@pytest.mark.parametrize(
    ("asked", "pause"),
    [
        ("3", 3.0),
        ("0", 0.5),
        ("86400", 30.0),
        ("Wed, 21 Oct 2099 07:28:00 GMT", 30.0),
        ("Wed, 21 Oct 2015 07:28:00 GMT", 0.5),
        ("soon", 0.5),
    ],
)
def test_a_server_may_ask_for_a_longer_pause(pauses, asked, pause):
    later = (429, "slowly", {"Retry-After": asked})
    with serving(lambda r, n: well(r, n) if n > 1 else later) as server:
        ask(server)
    assert pauses == [pause]


def silent(request, seconds=60):
    request.server.released.wait(seconds)


def broken(request):
    request.connection.shutdown(socket.SHUT_RDWR)


@pytest.mark.parametrize(("fail", "timeout"), [(silent, 0.3), (broken, 60)])
def test_a_server_that_is_silent_or_breaks_off_is_asked_again(pauses, fail, timeout):
    def fail_once(request, number):
        if number == 1:
            fail(request)
        return well(request, number)

    with serving(fail_once) as server:
        found = ask(server, timeout_seconds=timeout)
        assert len(server.requests) == 2
    torch.testing.assert_close(found, expected(), rtol=0, atol=1e-12)


def test_a_server_that_is_down_is_named(pauses):
    with serving(well) as server:
        url = server.url
    with pytest.raises(ScoringFailed, match="one, endpoint http.*3 attempts.*ConnectError"):
        card(url, retries=2).load("cpu").outputs(BATCH)
    assert len(pauses) == 2


ROWS = [[0.0, 1.0]] * 5


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("<html>welcome</html>", "<html>welcome</html>"),
        ("[]", "list indices"),
        ('{"output": []}', "'outputs'"),
        ('{"outputs": 3}', "not a list of lists"),
        ('{"outputs": [0, 1, 2, 3]}', "4 lists for 5 inputs"),
        ('{"outputs": [0, 1, 2, 3, [4]]}', "not a list of lists"),
        (json.dumps({"outputs": ROWS[:4]}), "4 lists for 5 inputs"),
        (json.dumps({"outputs": [*ROWS[:4], [1.0]]}), "inhomogeneous"),
        (json.dumps({"outputs": [*ROWS[:4], [1.0, "2"]]}), "an output is not a number"),
        (json.dumps({"outputs": [*ROWS[:4], [1.0, True]]}), "an output is not a number"),
        (json.dumps({"outputs": [*ROWS[:4], [1.0, 10**400]]}), "too large"),
    ],
)
def test_garbage_is_shown_and_not_asked_for_again(text, shown):
    with serving(lambda r, n: (200, text, {})) as server:
        with pytest.raises(ModelError) as refused:
            ask(server)
        assert len(server.requests) == 1
    message = str(refused.value)
    for part in (server.url, text[:20], shown, "expected", "5 lists"):
        assert part in message
    assert len(message) < 800


def test_null_and_nan_are_not_a_number():
    text = '{"outputs": [[null, 1], [NaN, 2], [Infinity, 3], [4, 4], [5, 5]]}'
    with serving(lambda r, n: (200, text, {})) as server:
        found = ask(server)
    assert torch.isnan(found[:2, 0]).all()
    assert found[:, 1].tolist() == [1, 2, 3, 4, 5]
    assert found[2, 0] == torch.inf


def test_another_version_is_refused():
    def versioned(request, number):
        status, text, _ = well(request, number)
        return status, text, {"X-Model-Version": "2"}

    with serving(versioned) as server:
        ask(server, version="2")
        with pytest.raises(ModelError, match="version '2', .* '1'"):
            ask(server)


def test_the_number_of_outputs_may_not_change():
    def growing(request, number):
        return 200, json.dumps({"outputs": [[0.5] * number]}), {}

    with serving(growing) as server, pytest.raises(ModelError, match="number of outputs changes"):
        ask(server, rows_per_request=1)


@pytest.mark.parametrize("status", [400, 401, 404, 422, 302])
def test_a_refusal_is_shown_and_not_asked_for_again(status):
    text = "no such model " + "x" * 2000
    with serving(lambda r, n: (status, text, {})) as server:
        with pytest.raises(ModelError, match=f"with status {status}: 'no such model x+…'$") as no:
            ask(server)
        assert len(server.requests) == 1
    assert len(str(no.value)) < 600


def test_headers_are_sent_and_never_shown():
    headers = {"Authorization": f"Bearer {SECRET}"}

    def echo(request, number):
        return 401, f"bad token {request.headers['Authorization']}", {}

    with serving(echo) as server:
        given = card(server.url, headers=headers)
        with pytest.raises(ModelError) as refused:
            given.load("cpu").outputs(BATCH)
        assert server.requests[0].headers["Authorization"] == f"Bearer {SECRET}"
    assert "bad token" in str(refused.value)
    for text in (str(refused.value), repr(given), str(given), given.model_dump_json()):
        assert SECRET not in text
    assert pickle.loads(pickle.dumps(given)) == given


@pytest.mark.parametrize("value", [f"{SECRET}\n", f"{SECRET}é", " ", ""])
def test_a_header_that_cannot_be_sent_is_refused_unseen(value):
    with pytest.raises(ValidationError, match="'X-Key'") as no:
        card("http://127.0.0.1", headers={"X-Key": value})
    assert SECRET not in str(no.value)


@pytest.mark.parametrize(
    ("url", "message"),
    [
        ("127.0.0.1:80", "expected an http"),
        ("file:///etc/passwd", "expected an http"),
        ("http://user:word@host/", "put credentials into 'headers'"),
        ("http://host:port/", "'port'"),
    ],
)
def test_an_address_that_is_none_is_refused(url, message):
    with pytest.raises(ValidationError, match=message):
        card(url)


def test_how_an_endpoint_is_asked_is_no_part_of_its_identity():
    url = "http://127.0.0.1:1/predict"
    same = {"headers": {"X-Key": "a"}, "retries": 9, "rows_per_request": 1, "timeout_seconds": 1}
    assert card(url).weights_digest() == card(url, **same).weights_digest()
    assert card(url).preprocessing_digest == card(url, **same).preprocessing_digest


def test_the_client_is_closed_with_the_model(monkeypatch):
    model = card("http://127.0.0.1:1").load("cpu")
    closed = []
    monkeypatch.setattr(model._caller._client, "close", lambda: closed.append(True))
    assert closed == []
    del model
    assert closed == [True]


@pytest.mark.usefixtures("pauses")
def test_the_client_is_closed_where_a_call_has_failed():
    model = card("http://127.0.0.1:1", retries=1).load("cpu")
    with contextlib.suppress(ScoringFailed):
        model.outputs(BATCH)
    held = weakref.ref(model)
    del model
    assert held() is None, "nothing waits for the collector of cycles"


def predictions(answer):
    """A server that answers as MLflow's scoring server does, with this of each row."""

    def behave(request, number):
        asked = json.loads(request.body)
        rows = asked["dataframe_split"]["data"] if "dataframe_split" in asked else asked["inputs"]
        return 200, json.dumps({"predictions": [answer(row) for row in rows]}), {}

    return behave


@pytest.mark.parametrize(
    "answer",
    [sum, lambda row: [sum(row)], lambda row: {"prediction": sum(row)}],
    ids=["numbers", "lists", "frame"],
)
def test_the_scoring_server_of_mlflow(answer):
    rows = torch.tensor([[0.1, 0.2, 0.3], [1e-30, 1.0, 1 / 3]], dtype=torch.float64)
    expected = [sum(row) for row in rows.tolist()]
    with serving(predictions(answer)) as server:
        named = ask(server, rows, encoding="mlflow", columns=["a", "b", "c"])
        plain = ask(server, rows.reshape(2, 3, 1, 1), encoding="mlflow", flatten=True)
        assert json.loads(server.requests[0].body)["dataframe_split"]["columns"] == ["a", "b", "c"]
        assert json.loads(server.requests[1].body) == {"inputs": rows.tolist()}
        with pytest.raises(ModelError, match="2 columns, .* 3 features"):
            ask(server, rows, encoding="mlflow", columns=["a", "b"])
    assert named[:, 0].tolist() == plain[:, 0].tolist() == expected


def test_a_model_of_onnx_answers_by_the_name_of_its_output():
    def behave(request, number):
        sums = [[sum(row)] for row in json.loads(request.body)["inputs"]]
        return 200, json.dumps({"predictions": {name: sums for name in names}}), {}

    names = ["logits"]
    with serving(behave) as server:
        rows = torch.tensor([[0.5, 0.25], [1.0, 2.0]])
        assert ask(server, rows, encoding="mlflow")[:, 0].tolist() == [0.75, 3.0]
        names.append("label")
        with pytest.raises(ModelError, match="outputs logits, label"):
            ask(server, rows, encoding="mlflow")


def test_classes_of_a_scoring_server_are_no_scores():
    refused = pytest.raises(ModelError, match="predictions")
    with serving(predictions(lambda row: "cat")) as server, refused:
        ask(server, encoding="mlflow", flatten=True)


def test_columns_are_mlflows():
    with pytest.raises(ValidationError, match="'columns' needs encoding: mlflow"):
        card("http://127.0.0.1:1", columns=["a"])
