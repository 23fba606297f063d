"""The whole audit with its warehouse on a real S3-compatible server."""

import signal

import pytest
import running_command
from ended_commands import refused, succeeded
from running_command import results, wait_for
from s3_server import CREDENTIALS, free_port
from small_studies import of_scenes, weighted

from warehouse import storage
from warehouse.commits import receipts
from warehouse.commits.lock import study_lock

pytestmark = pytest.mark.usefixtures("no_copies")

TABLES = running_command.TABLES | {"out_model_profiles": "model_id, pair_type, path"}


@pytest.mark.slow
def test_an_audit_on_s3_is_the_audit_in_a_folder(
    study, write, decaf, start_decaf, prefect_server, s3, tmp_path
):
    url = s3.url("audit")
    study = {**study, "models": study["models"][:1]}
    # Workers get the credentials from the environment of the run that starts them.
    remote = {**study, "warehouse": url, "cluster": {"kind": "local", "workers": 1}}
    config = write(remote, "remote.yaml")

    # A run that is killed as soon as something is committed holds nothing up.
    flow = start_decaf("run", config, **prefect_server)
    wait_for(lambda: receipts.keys(storage.open(url), "units", "small"), flow)
    flow.send_signal(signal.SIGKILL)
    flow.wait()
    printed = succeeded(decaf("run", config, **prefect_server))
    assert "small_cnn" in printed
    assert f"decaf sql -w '{url}'" in printed

    again = succeeded(decaf("run", config, PREFECT_API_URL="http://127.0.0.1:9"))
    assert "all 20 units" in again
    local = write({**study, "warehouse": str(tmp_path / "local")}, "local.yaml")
    succeeded(decaf("run", local, **prefect_server))
    found = results(url, TABLES)
    assert all(found.values())
    assert found == results(tmp_path / "local", TABLES)

    ask = ("-w", url)
    assert "finished" in succeeded(decaf("status", *ask))
    assert "pass" in succeeded(decaf("check", *ask))
    assert "before" in succeeded(decaf("compact", *ask))
    assert "delete" in succeeded(decaf("gc", "--older-than", 0, "--delete", *ask))
    counted = decaf("sql", "SELECT count(*) FROM core_profiles", *ask)
    assert "32" in succeeded(counted)
    assert "profiles.parquet" in succeeded(decaf("export", tmp_path / "copies", "profiles", *ask))
    assert "nothing to explain" in succeeded(decaf("plan", config, "--explain"))
    with study_lock(storage.open(url), "small"):
        changed = decaf("run", write({**remote, "epsilon": 0.2}), **prefect_server)
        refused(changed, "is already being audited")


def test_a_warehouse_that_cannot_be_reached(write, decaf, tmp_path):
    url = f"s3://bucket/x?endpoint_override=127.0.0.1:{free_port()}&scheme=http&region=us-east-1"
    config = write(of_scenes(tmp_path, [], warehouse=url) | weighted(tmp_path))
    for command in (("run", config), ("status", "-w", url)):
        refused(decaf(*command, **CREDENTIALS), url.partition("?")[0])
