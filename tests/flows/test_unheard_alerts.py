"""A re-audit whose webhook takes no alert: its results stay, and the next one sends again."""

import json
import os

import pytest
from ended_commands import refused, run_code
from raw_server import answer, misbehaving, once
from registry_folder import put_small_cnn
from small_studies import of_scenes
from warehouse_answers import fetched

HOOK = {"deadline_seconds": 0.8, "timeout_seconds": 0.3, "retries": 1, "backoff_seconds": 0.01}
VARIABLES = {"NO_PROXY": "127.0.0.1", "DECAF_WEBHOOK_SECRET": "secret"}
WORKER = """
import sys
from flows.deployed import scheduled
print(scheduled(sys.argv[1], return_state=True).message)
"""


@pytest.mark.slow
def test_a_re_audit_is_kept_though_nobody_takes_its_alerts(
    tmp_path, write, decaf, prefect_server, workers
):
    put_small_cnn(tmp_path / "zoo" / "good")
    (tmp_path / "zoo" / "bad").mkdir()
    registry = {"kind": "folder", "root": str(tmp_path / "zoo")}

    def reaudit(url, *options):
        alerts = {"webhook": HOOK | {"url": url}}
        config = write(of_scenes(tmp_path, registry=registry, cluster=workers, alerts=alerts))
        return decaf("reaudit", config, *options, **VARIABLES, **prefect_server)

    with misbehaving("says 500") as server:
        refused(reaudit(server.url), server.url, code=3)
        assert len(server.asked) == 2
    (count,) = fetched(tmp_path / "warehouse", "SELECT count(*) FROM out_model_profiles")
    assert count == (2,)
    variables = VARIABLES | prefect_server | {"PREFECT_LOGGING_LEVEL": "INFO"}
    ended = run_code(WORKER, tmp_path / "study.yaml", env=os.environ | variables, timeout=120)
    output = ended.stdout + ended.stderr
    assert "exit code 3: alert to" in output, output
    assert "Traceback" not in output, output
    with misbehaving(once(answer(b"", status="204 Taken"))) as server:
        told = reaudit(server.url, "--json")
        assert len(server.asked) == 1
    assert told.returncode == 1
    assert json.loads(told.stdout)["alerts"]
