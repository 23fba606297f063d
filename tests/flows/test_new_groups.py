"""A study that gets groups of pairs keeps its limits on a change."""

import shutil

import pytest
import yaml
from ended_commands import refused, succeeded
from flow_fixtures import use_workers
from warehouse_answers import fetched

GATE = {"increase": 0.1, "pair_type": "wall_hue"}


@pytest.mark.slow
def test_a_version_is_compared_with_one_before_the_groups(
    warm_command, workers, prefect_server, tmp_path
):
    folder, second = tmp_path / "zoo", tmp_path / "2"
    file, pairs, models = (folder / name for name in ("study.yaml", "pairs.csv", "models"))

    def decaf(*arguments, place=folder):
        return warm_command.start(arguments, place, prefect_server).completed()

    succeeded(decaf("init", "registry", "zoo", place=tmp_path))
    use_workers(file, workers)
    study = yaml.safe_load(file.read_text())
    study["registry"]["follow"] = ["latest"]
    study["gates"] = {"endpoint_magnitude": GATE | {"at_most": 0.99}}
    file.write_text(yaml.safe_dump(study))
    shutil.move(models / "small_cnn" / "2", second)
    succeeded(decaf("reaudit", "study.yaml"))

    header, *rows = pairs.read_text().splitlines()
    sites = [f"{row},{'north' if place % 2 else 'south'}" for place, row in enumerate(rows)]
    pairs.write_text("\n".join([f"{header},site", *sites]))
    study["data"]["groups"] = ["site"]
    file.write_text(yaml.safe_dump(study))
    shutil.move(second, models / "small_cnn" / "2")
    refused(decaf("reaudit", "study.yaml"), "small_cnn 2 failed endpoint magnitude", code=1)
    query = "SELECT verdict FROM out_verdicts WHERE rule = 'increase'"
    assert fetched(folder / "runs" / "warehouse", query) == [("fail",)]
