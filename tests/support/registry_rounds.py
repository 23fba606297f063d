"""Re-audits of a small folder registry that are recorded without scoring anything."""

import pyarrow as pa
import pytest
from registry_folder import NETWORKS
from small_studies import of_scenes

from decaf.plan.resolution import list_entries
from decaf.plan.study import load_study
from tasks.reaudit.judge import VERDICTS
from tasks.reaudit.plan import commit_reaudit, discover, is_unchanged
from tasks.reaudit.recorded import ALERTS
from warehouse.commits.writer import commit, open_root
from warehouse.tables.declarations import TABLES


@pytest.fixture
def settings(tmp_path):
    registry = {"kind": "folder", "root": str(tmp_path / "zoo"), "trusted": ["leaning"]}
    return of_scenes(tmp_path, registry=registry, python_path=[str(NETWORKS)])


@pytest.fixture
def config(settings, write):
    """Write settings, changed, and give the path: config(epsilon=0.1)."""
    return lambda **changed: write(settings | changed)


@pytest.fixture
def opened(config):
    """Read the study, changed: opened(epsilon=0.1) gives study and store."""

    def of(**changed):
        study = load_study(config(**changed))
        return study, open_root(study.warehouse)

    return of


def unchanged(study, store):
    return is_unchanged(study, store, list_entries(study.registry), study.pair_set())


def recorded(study, store, verdict=None, run_id="run", *, is_settled=True, **gate):
    """Record the current entries as if they had been audited, judged and, if settled, alerted.

    ``verdict`` is that on ``net``, or verdicts by entry; ``gate`` has columns of their only rows.
    """
    found = discover(study, store, study.pair_set())
    key = commit_reaudit(found, run_id)
    if verdict:
        by_entry = verdict if isinstance(verdict, dict) else {"net": verdict}
        nothing = dict.fromkeys(TABLES["gate_verdicts"].schema.names)
        row = nothing | {"reaudit_id": key, "metric": "evidence", "rule": "at_most"}
        row |= {"gate_limit": 0.1, "level": 0.95} | gate
        rows = [
            row | {"entry": entry, "position": position, "verdict": of_entry}
            for position, (entry, of_entry) in enumerate(by_entry.items())
        ]
        table = pa.Table.from_pylist(rows, schema=TABLES["gate_verdicts"].schema)
        commit(store, VERDICTS, study.study, key, {"gate_verdicts": table})
    if is_settled:
        commit(store, ALERTS, study.study, key, {})
    return found
