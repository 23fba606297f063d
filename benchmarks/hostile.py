"""Random damage to everything that decaf is given, for as long as wanted, through the command line.

Configurations, cards of a registry, files of a warehouse and photos are changed by a seed
(hostile_inputs.py), one copy of a small sound study after another, and a command meets them. Every
command has to end by itself, with exit code 0, 1 or 2, without a traceback; a sound entry of a
registry has to be among those that are audited whatever the others are; `decaf check` has to notice
damage to a file that a receipt names. What does not is kept in the folder, input and output.
Run: python benchmarks/hostile.py FOLDER RESULTS.json [SEED MINUTES]
"""

import json
import os
import platform
import random
import shutil
import subprocess
import sys
import threading
import time
from collections import Counter
from collections.abc import Callable
from importlib.metadata import version
from pathlib import Path
from typing import Any, NamedTuple

sys.path.append(str(Path(__file__).parent.parent / "tests" / "support"))

from hostile_inputs import change_file
from hostile_studies import prepare
from warm_command import WarmCommand

SEED, MINUTES, SIDE_BY_SIDE = 17, 30.0, 2
LONGEST_SECONDS = 60
READERS = (
    *(["check"], ["status"], ["views"], ["history"], ["compact"], ["gc"], ["gc", "--delete"]),
    *(["sql", "FROM out_model_profiles"], ["sql", "SELECT count(*) FROM core_trajectories"]),
    *(["export", "files"], ["gc", "--keep", "1", "--delete"], ["check", "--quick"]),
)


class Case(NamedTuple):
    """A command and what it meets."""

    arguments: list[str]
    damage: list[str]
    judge: Callable[[subprocess.CompletedProcess], str | None] = lambda _: None
    """What is wrong with an answer that ended well otherwise."""


def configuration(rng: random.Random, folder: Path) -> Case:
    """One to three places of a configuration, or of a file that it includes."""
    name = rng.choice(("scenes", "table", "photos", "registry"))
    file = folder / f"{name}.yaml"
    damage = [f"{file.name}: {change_file(rng, file)}" for _ in range(rng.choice((1, 1, 2, 3)))]
    command = ["reaudit", file.name, "--plan"] if name == "registry" else ["plan", file.name]
    return Case(command, damage)


def cards(rng: random.Random, folder: Path) -> Case:
    """Entries of a registry beside a sound one: their cards, or their weights."""
    damage = []
    for number in range(8):
        entry = folder / "zoo" / f"entry{number}" / "1"
        file = entry / rng.choice(("decaf.yaml", "decaf.yaml", "net.safetensors"))
        damage.append(f"{number} {file.name}: {change_file(rng, file)}")

    def judge(done: subprocess.CompletedProcess) -> str | None:
        return None if "sound" in done.stdout else "lost: the sound entry"

    is_whole = rng.random() < 0.1
    return Case(
        ["reaudit", "registry.yaml", "--json", *([] if is_whole else ["--plan"])], damage, judge
    )


def warehouse(rng: random.Random, folder: Path) -> Case:
    """One or two files of a finished audit's warehouse."""
    root = folder / "warehouse"
    files = sorted(path for path in root.rglob("*") if path.is_file() and path.name != ".lock")
    hit = rng.sample(files, rng.choice((1, 1, 2)))
    before = {file: file.read_bytes() for file in hit}
    damage = [f"{file.relative_to(root)}: {change_file(rng, file)}" for file in hit]
    is_data = any(
        file.suffix == ".parquet" and not (file.is_file() and file.read_bytes() == before[file])
        for file in hit
    )
    asked = rng.choice(
        (*READERS, *([command, "scenes.yaml"] for command in ("plan", "run", "report")))
    )
    arguments = asked if asked[-1].endswith(".yaml") else [*asked, "--warehouse", "warehouse"]

    def judge(done: subprocess.CompletedProcess) -> str | None:
        is_silent = asked == ["check"] and is_data and done.returncode == 0
        return "silent: damaged data passed the check" if is_silent else None

    return Case(arguments, damage, judge)


def photos(rng: random.Random, folder: Path) -> Case:
    """One to three photos of a study."""
    files = sorted((folder / "photos").rglob("*.JPEG"))
    damage = [
        f"{file.name}: {change_file(rng, file)}" for file in rng.sample(files, rng.choice((1, 3)))
    ]
    return Case(["plan", "photos.yaml"], damage)


KINDS = {"configuration": configuration, "cards": cards, "warehouse": warehouse, "photos": photos}


def outcome(case: Case, done: subprocess.CompletedProcess) -> str:
    """Clear, or what is wrong."""
    if "Traceback" in done.stdout + done.stderr:
        return "traceback"
    if done.returncode not in (0, 1, 2):
        return f"exit code {done.returncode}"
    if done.returncode == 2 and done.stderr.count("error: ") != 1:
        return "unclear: not one error"
    return case.judge(done) or ("clear: accepted" if done.returncode == 0 else "clear: refused")


class Campaign:
    """Counts of outcomes, and what failed."""

    def __init__(self, base: Path, folder: Path, minutes: float) -> None:
        self.base, self.folder, self.end = base, folder, time.monotonic() + 60 * minutes
        self.counts = {kind: Counter() for kind in KINDS}
        self.failures: list[dict[str, Any]] = []

    def run(self, seed: int) -> None:
        """Go through cases until the time is over; those of one seed are always the same."""
        warm = WarmCommand()
        number = 0
        while time.monotonic() < self.end:
            rng = random.Random(f"{seed}/{number}")
            kind = rng.choice(list(KINDS))
            folder = self.folder / f"{seed}-{number}"
            shutil.copytree(self.base, folder, symlinks=True)
            case = KINDS[kind](rng, folder)
            running = warm.start(case.arguments, folder, {})
            try:
                done = running.completed(timeout=LONGEST_SECONDS)
                found = outcome(case, done)
                said = f"{done.stdout[-2000:]}\n{done.stderr[-3000:]}"
            except subprocess.TimeoutExpired:
                found, said = "hung", ""
                warm = WarmCommand()
            self.counts[kind][found] += 1
            if found.startswith("clear"):
                shutil.rmtree(folder)
            else:
                what = {"case": folder.name, "kind": kind, "found": found, "damage": case.damage}
                self.failures.append(what | {"command": case.arguments})
                (folder / "said.txt").write_text(f"{found}\n{case}\n{said}")
                print(json.dumps(what), flush=True)
            number += 1
        warm.close()


def main() -> None:
    """Run the campaign and write its result."""
    folder, results = Path(sys.argv[1]), Path(sys.argv[2])
    seed, minutes = (float(text) for text in (*sys.argv[3:], SEED, MINUTES)[:2])
    folder.mkdir(parents=True)
    os.environ["PREFECT_HOME"] = str(folder / "prefect")
    base = folder / "base"
    prepare(base)
    campaign = Campaign(base, folder, minutes)
    seeds = [int(seed) + place for place in range(SIDE_BY_SIDE)]
    threads = [threading.Thread(target=campaign.run, args=(each,)) for each in seeds]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    found = {
        "machine": f"{platform.machine()}, {os.cpu_count()} cores",
        "python": platform.python_version(),
        "decaf": version("decaf-audit"),
        "seeds": seeds,
        "minutes": minutes,
        "cases": sum(map(Counter.total, campaign.counts.values())),
        "outcomes": {
            kind: dict(sorted(counts.items())) for kind, counts in campaign.counts.items()
        },
        "failures": campaign.failures,
    }
    results.write_text(f"{json.dumps(found, indent=1)}\n")
    sys.exit(1 if campaign.failures else 0)


if __name__ == "__main__":
    main()
