"""Machines with a proxy, runs that begin at the same moment, weights that are links to a cache."""

import json
import os
import re
import subprocess
from pathlib import Path

import pytest
from ended_commands import refused, succeeded
from model_server import decode, serving
from registry_folder import put_small_cnn
from warehouse_answers import fetched

NO_EXCEPTIONS = {"NO_PROXY": "", "no_proxy": ""}
DEAD = "http://127.0.0.1:9"


def levels(request, number):
    """Answer of a model: the mean of each image, and 1 minus the mean."""
    rows = decode(json.loads(request.body)["inputs"])
    level = rows.reshape(len(rows), -1).astype("float64").mean(axis=1)
    return 200, json.dumps({"outputs": [[x, 1 - x] for x in level.tolist()]}), {}


def endpoint(name, url):
    card = {"id": name, "family": "any", "source": "endpoint", "version": "1", "url": url}
    return card | {"output": "probabilities", "encoding": "base64"}


@pytest.mark.slow
def test_an_own_endpoint_is_reached_past_the_proxy_and_one_elsewhere_through_it(
    study, write, decaf, prefect_server, tmp_path
):
    """The proxy of the test answers for every host, so the two models have the same scores."""
    cluster = {"kind": "local", "workers": 1}  # which has the variables of the command
    with serving(levels) as own, serving(levels) as proxy:
        models = [endpoint("own", own.url), endpoint("elsewhere", "http://models.invalid/predict")]
        config = write({**study, "models": models, "cluster": cluster})
        address = proxy.url.removesuffix("/predict")
        variables = {"HTTP_PROXY": address, "NO_PROXY": "corp.invalid", "no_proxy": "corp.invalid"}
        succeeded(decaf("run", config, **prefect_server, **variables))
    assert {request.headers["Host"] for request in proxy.requests} == {"models.invalid"}
    assert {request.headers["Host"] for request in own.requests} == {own.url.split("/")[2]}
    query = "SELECT q_plus, q_minus FROM core_trajectories WHERE model_id = $name ORDER BY ALL"
    scores = [fetched(tmp_path / "warehouse", query, name=card["id"]) for card in models]
    assert len(scores[0]) == 32
    assert scores[0] == scores[1]


def test_a_prefect_server_of_this_machine_is_reached_past_a_dead_proxy(decaf, prefect_server):
    dead = {"HTTP_PROXY": DEAD, "all_proxy": DEAD}
    done = decaf("doctor", **prefect_server, **NO_EXCEPTIONS, **dead)
    assert prefect_server["PREFECT_API_URL"] in done.stdout, done.stdout + done.stderr


@pytest.mark.slow
@pytest.mark.parametrize(
    "variables",
    [
        {"HTTP_PROXY": DEAD, "http_proxy": DEAD},
        {"all_proxy": "socks5://127.0.0.1:9", "HTTPS_PROXY": DEAD},
    ],
)
def test_a_run_without_a_prefect_server_ends_well_past_a_dead_proxy(
    variables, study, write, fresh_decaf
):
    config = write({**study, "models": study["models"][:1]})
    succeeded(fresh_decaf("run", config, **NO_EXCEPTIONS, **variables))


def test_a_proxy_that_no_client_can_use_is_named(study, write, decaf, prefect_server):
    done = decaf("run", write(study), **prefect_server, ALL_PROXY="socks://127.0.0.1:9")
    refused(done, "ALL_PROXY", "socks5://")


@pytest.mark.slow
def test_two_first_runs_of_a_new_folder_both_end_well(study, write, start_decaf, tmp_path):
    models = study["models"][:1]
    configs = [
        write({**study, "models": models, "study": name}, f"{name}.yaml") for name in ("a", "b")
    ]
    home = str(tmp_path / "prefect")  # not there: both make it
    started = [start_decaf("run", config, PREFECT_HOME=home) for config in configs]
    for command in started:
        succeeded(command.completed())
    query = "SELECT study, count(*) FROM core_trajectories GROUP BY ALL ORDER BY ALL"
    assert fetched(tmp_path / "warehouse", query) == [("a", 32), ("b", 32)]


@pytest.fixture
def linked_registry(study, write, tmp_path):
    """A registry whose entries have links to a cache, as the hub's cache makes them."""
    cache = tmp_path / "cache of blobs"
    cache.mkdir()
    zoo = tmp_path / "models"
    for name in ("file", "folder", "card", "nowhere", "escape"):
        put_small_cnn(zoo / name)
    move_and_link(zoo / "file" / "net.safetensors", cache / "1")
    weights = zoo / "folder" / "weights"
    weights.mkdir()
    (zoo / "folder" / "net.safetensors").rename(weights / "net.safetensors")
    move_and_link(weights, cache / "2")
    card = zoo / "folder" / "decaf.yaml"
    card.write_text(card.read_text().replace("net.safetensors", "weights/net.safetensors"))
    move_and_link(zoo / "card" / "decaf.yaml", cache / "3")
    move_and_link(zoo / "nowhere" / "net.safetensors", cache / "4").unlink()
    move_and_link(zoo / "escape" / "net.safetensors", cache / "\x1b[31m5")
    settings = {name: value for name, value in study.items() if name != "models"}
    registry = {"kind": "folder", "root": str(zoo)}
    return write(settings | {"registry": registry, "paths": {"blend": {"kind": "blend"}}})


def move_and_link(path, target):
    path.rename(target)
    path.symlink_to(Path(os.path.relpath(target, path.parent)))
    return target


@pytest.mark.slow
def test_weights_that_are_links_fail_with_the_link_its_target_and_a_cure_that_works(
    linked_registry, decaf, prefect_server, tmp_path
):
    zoo, cache = tmp_path / "models", tmp_path / "cache of blobs"
    done = decaf("reaudit", linked_registry, "--json", **prefect_server)
    assert done.returncode == 1, done.stderr
    problems = {row["entry"]: row["problem"] for row in json.loads(done.stdout)["entries"]}
    links = {
        "file": (zoo / "file" / "net.safetensors", cache / "1"),
        "folder": (zoo / "folder" / "weights", cache / "2"),
        "card": (zoo / "card" / "decaf.yaml", cache / "3"),
    }
    for name, (link, target) in links.items():
        assert f"{link} is a link to {target}" in problems[name]
        (command,) = re.findall(r"rm .* && cp -rL '[^']*' \S+", problems[name])
        subprocess.run(command, shell=True, check=True)
        assert not link.is_symlink()
    assert "cp -rL" not in problems["nowhere"]
    assert "cache of blobs/4" in problems["nowhere"]
    assert "\x1b" not in done.stdout + done.stderr
    done = decaf("reaudit", linked_registry, "--json", **prefect_server)
    problems = {row["entry"]: row["problem"] for row in json.loads(done.stdout)["entries"]}
    failed = {name for name, problem in problems.items() if problem}
    assert failed == {"nowhere", "escape"}


def test_a_card_is_proposed_of_no_file_behind_a_link(linked_registry, decaf, tmp_path):
    entry = tmp_path / "models" / "trees"
    entry.mkdir()
    (tmp_path / "trees.ubj").write_bytes(b"{}")
    (entry / "trees.ubj").symlink_to(tmp_path / "trees.ubj")
    refused(
        decaf("card", "trees", "-c", linked_registry),
        f"{entry / 'trees.ubj'} is a link to {tmp_path / 'trees.ubj'}",
        "cp -rL",
    )
    (entry / "MLmodel").symlink_to(tmp_path / "trees.ubj")
    refused(decaf("card", "trees", "-c", linked_registry), f"{entry / 'MLmodel'} is a link to")
