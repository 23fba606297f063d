"""Machines with a proxy, runs that begin at the same moment, weights that are links to a cache."""

import os
import re
import subprocess
from pathlib import Path

import pytest
from ended_commands import refused, succeeded
from registry_folder import put_small_cnn
from small_studies import of_scenes
from warehouse_answers import fetched

from decaf.plan.resolution import list_entries, resolve
from decaf.plan.study import load_study

NO_EXCEPTIONS = {"NO_PROXY": "", "no_proxy": ""}
DEAD = "http://127.0.0.1:9"


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
def linked_registry(write, tmp_path):
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
    return write(of_scenes(tmp_path, registry={"kind": "folder", "root": str(zoo)}))


def move_and_link(path, target):
    path.rename(target)
    path.symlink_to(Path(os.path.relpath(target, path.parent)))
    return target


def problems_of(config):
    study = load_study(config)
    return {one.entry.label: one.problem for one in resolve(study, list_entries(study.registry))}


def test_weights_that_are_links_fail_with_the_link_its_target_and_a_cure_that_works(
    linked_registry, tmp_path
):
    zoo, cache = tmp_path / "models", tmp_path / "cache of blobs"
    problems = problems_of(linked_registry)
    links = {
        "file": (zoo / "file" / "net.safetensors", cache / "1"),
        "folder": (zoo / "folder" / "weights", cache / "2"),
        "card": (zoo / "card" / "decaf.yaml", cache / "3"),
    }
    for name, (link, target) in links.items():
        assert str(link) in problems[name]
        assert str(target) in problems[name]
        (command,) = re.findall(r"rm .* && cp -rL '[^']*' \S+", problems[name])
        subprocess.run(command, shell=True, check=True)
        assert not link.is_symlink()
    assert "cp -rL" not in problems["nowhere"]
    assert "cache of blobs/4" in problems["nowhere"]
    assert "\x1b" not in problems["escape"]
    problems = problems_of(linked_registry)
    assert {name for name, problem in problems.items() if problem} == {"nowhere", "escape"}


def test_a_card_is_proposed_of_no_file_behind_a_link(linked_registry, decaf, tmp_path):
    entry = tmp_path / "models" / "trees"
    entry.mkdir()
    (tmp_path / "trees.ubj").write_bytes(b"{}")
    (entry / "trees.ubj").symlink_to(tmp_path / "trees.ubj")
    refused(
        decaf("card", "trees", "-c", linked_registry),
        str(entry / "trees.ubj"),
        f"cp -rL {tmp_path / 'trees.ubj'}",
    )
    (entry / "MLmodel").symlink_to(tmp_path / "trees.ubj")
    refused(decaf("card", "trees", "-c", linked_registry), str(entry / "MLmodel"))
