"""What commands cost that have next to nothing to do: real processes, from start to end.

``query``: ``decaf sql "SELECT 1"`` of a small warehouse. ``opening``: the same where no views are
bound yet, as after an upgrade. ``finished``: ``decaf run`` of an audit of 72 models that is
finished. ``smallest``: one model and one block, with two workers; and once before (*first*), in a
new folder. ``demo``: ``make demo`` in a copy of the last commit, from setting up to the report,
with the packages in uv's cache. Median of three.
Run: python benchmarks/idle.py FOLDER [PART ...]
"""

import os
import platform
import shutil
import subprocess
import sys
from importlib.metadata import version
from pathlib import Path
from statistics import median
from unittest.mock import patch

from commands import DECAF, Taken, command
from small_study import card, write_study

MODELS, ROUNDS, WORKERS = 72, 3, 2
TINY = "factory:decaf.models.networks.small_cnn:build"
ROOT = Path(__file__).parents[1]
ASKED = (DECAF, "sql", "SELECT 1", "--warehouse", "warehouse")


def small(folder: Path, models: int, sources: int) -> Path:
    """Make the folder of a study of tiny networks on a few scenes."""
    folder.mkdir(parents=True)
    cards = [card(folder, f"net_{n:02}", n, TINY, input_size=32) for n in range(models)]
    settings = {"data": {"adapter": "shapes3d", "sources": sources}, "sources_per_block": 4}
    write_study(folder, cards, cluster={"kind": "local", "workers": WORKERS}, **settings)
    return folder


def query(folder: Path) -> list[Taken]:
    """A question that reads nothing."""
    own = small(folder, 1, 2)
    command(own)
    command(own, ASKED)
    return [command(own, ASKED) for _ in range(ROUNDS)]


def opening(folder: Path) -> list[Taken]:
    """The same question with an empty cache."""
    own = small(folder, 1, 2)
    command(own)
    taken = []
    for number in range(ROUNDS):
        with patch.dict(os.environ, DECAF_CACHE=str(folder / f"cache {number}")):
            taken.append(command(own, ASKED))
    return taken


def finished(folder: Path) -> list[Taken]:
    """An audit with nothing left to do."""
    own = small(folder, MODELS, 8)
    command(own)
    return [command(own) for _ in range(ROUNDS)]


def smallest(folder: Path) -> list[Taken]:
    """One model, one block."""
    home = os.environ["PREFECT_HOME"]
    os.environ["PREFECT_HOME"] = str(folder / "prefect")
    tell("smallest, first", [command(small(folder / "first", 1, 2))])
    taken = [command(small(folder / str(number), 1, 2)) for number in range(ROUNDS)]
    os.environ["PREFECT_HOME"] = home
    return taken


def demo(folder: Path) -> list[Taken]:
    """Everything of a fresh checkout."""
    folder.mkdir()
    del os.environ["PREFECT_HOME"]
    taken = []
    for number in range(ROUNDS):
        own = folder / str(number)
        own.mkdir()
        packed = subprocess.run(
            ["git", "archive", "HEAD"], cwd=ROOT, check=True, capture_output=True
        )
        subprocess.run(["tar", "-x"], cwd=own, input=packed.stdout, check=True)
        taken.append(command(own, ("make", "demo")))
        shutil.rmtree(own)
    return taken


def tell(name: str, taken: list[Taken]) -> None:
    """Print the median, and in brackets every reading."""
    wall, cpu = ([one[place] for one in taken] for place in (0, 1))
    walls, cpus = (", ".join(f"{one:.2f}" for one in read) for read in (wall, cpu))
    print(f"{name}: {median(wall):.2f} s ({walls}), CPU {median(cpu):.2f} s ({cpus})", flush=True)


PARTS = {each.__name__: each for each in (query, opening, finished, smallest, demo)}


def main(folder: Path, parts: list[str]) -> None:
    """Print the figures of some parts, or of all."""
    folder.mkdir(parents=True, exist_ok=True)
    os.environ["PREFECT_HOME"] = str(folder / "prefect")
    names = ("prefect", "distributed", "torch")
    versions = ", ".join(f"{name} {version(name)}" for name in names)
    load = ", ".join(f"{one:.1f}" for one in os.getloadavg())
    print(f"{platform.machine()}, {os.cpu_count()} cores; Python {platform.python_version()}, ")
    print(f"{versions}; load average {load}", flush=True)
    for name in parts or PARTS:
        tell(name, PARTS[name](folder / name))


if __name__ == "__main__":
    if len(sys.argv) < 2 or not {*sys.argv[2:]} <= {*PARTS}:
        sys.exit(__doc__)
    main(Path(sys.argv[1]).absolute(), sys.argv[2:])
