"""Benchmarks import what they measure, so that moved names are noticed before a campaign."""

import subprocess
import sys
from pathlib import Path

import pytest

FOLDER = Path(__file__).parents[1] / "benchmarks"


@pytest.mark.slow
def test_every_benchmark_can_be_imported():
    names = sorted(path.stem for path in FOLDER.glob("*.py"))
    assert {"core", "scoring", "host", "tables", "views", "faults", "gpu"} <= {*names}
    subprocess.run([sys.executable, "-c", f"import {', '.join(names)}"], cwd=FOLDER, check=True)
