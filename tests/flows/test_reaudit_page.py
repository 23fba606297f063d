"""The recipes of docs/reaudit.md, done in their order and as they stand."""

import json
import re
import shlex
from pathlib import Path

import pytest
import yaml
from ended_commands import refused, succeeded
from model_server import serving

from decaf.plan.study import load_study

PAGE = (Path(__file__).parents[2] / "docs" / "reaudit.md").read_text()
# The recipe of MLflow needs its server, and has a test of its own.
BLOCKS = re.findall(
    r"^```(\w+)\n(.*?)^```", re.sub(r"(?s)\n\*\*MLflow.*?\n\*\*Publ", "", PAGE), re.M | re.S
)


def blocks(language):
    return [text for name, text in BLOCKS if name == language]


@pytest.mark.slow
def test_the_recipes_work(decaf, prefect_server, workers, tmp_path, monkeypatch):
    assert {name for name, _ in BLOCKS} == {"yaml", "python", "sh", "sql"}
    monkeypatch.chdir(tmp_path)
    nightly, of_files, alerts = blocks("yaml")
    load_study(yaml.safe_load(nightly) | yaml.safe_load(of_files))
    config = Path("nightly.yaml")
    here = f"cluster: {json.dumps(workers)}\n"  # so that none are started for the test
    no_report = "report: false\n"
    config.write_text(nightly + here)
    (model,) = blocks("python")
    exec(model, {})  # noqa: S102 - it is ours

    def done(line):
        program, *arguments = shlex.split(line)
        assert program == "decaf"
        return decaf(*arguments, **prefect_server, **asked)

    asked = {"NO_PROXY": "127.0.0.1", "DECAF_WEBHOOK_SECRET": "s"}
    (shell,) = blocks("sh")
    plan, first, accept, listing, second, history = map(done, shell.splitlines())
    assert "new" in succeeded(plan)
    refused(first, "net 1 failed accuracy", "net@champion 1 failed accuracy", code=1)
    succeeded(accept)
    assert "a first try" in succeeded(listing)
    assert "net 1" not in refused(
        second, "1 failure needs attention", "net@champion 1 failed", code=1
    )
    assert "wall hue" in succeeded(history)
    (line,) = re.findall(r"^    (decaf accept .*)$", PAGE, re.M)
    succeeded(done(line))
    config.write_text(nightly + here + no_report)
    assert "nothing changed" in succeeded(done("decaf reaudit nightly.yaml"))
    for query in blocks("sql"):
        succeeded(decaf("sql", query))

    # All receivers at once: another version, as untrained as the first.
    exec(model.replace("net/1", "net/2").replace("seed(0)", "seed(1)"), {})  # noqa: S102
    paths = []

    def behave(request, number):
        paths.append(request.path)
        return 200, "", {}

    with serving(behave) as server:
        asked["HOOKS"] = server.url
        config.write_text(nightly.partition("alerts:")[0] + here + no_report + alerts)
        succeeded(done("decaf reaudit nightly.yaml --plan"))
        refused(done("decaf reaudit nightly.yaml"), "net 2 failed accuracy", code=1)
    told = [path for path in paths if not path.endswith("predict")]
    assert sorted(path.rpartition("/")[2] for path in told) == ["decaf", "slack", "teams"]
    assert len(Path("runs/alerts.jsonl").read_text().splitlines()) == 2
    closed = done("decaf reaudit nightly.yaml --plan")
    refused(closed, "alerts cannot be delivered", "does not answer: ConnectError", code=1)
