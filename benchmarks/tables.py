"""Audits with default settings against the scripts that users would write by hand.

``run``: a study as ``decaf init table_pairs`` writes it, with 100,000 rows, three changes and nine
stages, for a pipeline of one-hot columns and a logistic regression, against ``by_hand.py table``.
``audit``, ``boosted``, ``forest``: ``decaf.audit`` of 5,000 rows, three changes, for the pipeline,
XGBoost with categories, and 300 trees, against the same function of ``by_hand.py``. ``photos``: 60
pairs of 224 px and a SqueezeNet with random weights, against ``by_hand.py photos``. ``init``:
``decaf init`` and the run of each kind, in a new Prefect home and once more.

Each round measures decaf, then the script; the best of three counts. Tables get one core, photos
two. The ratio of ``run`` leaves out fixed costs: those of the same study with 50 rows.
Run: python benchmarks/tables.py RESULTS.json [case ...]
"""

import json
import os
import platform
import shutil
import sys
import tempfile
import time
import warnings
from collections.abc import Callable
from importlib.metadata import version
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import skops.io
import table_samples
import torch
import yaml
from by_hand import audit_rows
from commands import DECAF, RUN, command
from PIL import Image
from small_study import card, write_study
from table_samples import changes, rows_of, with_categories
from threadpoolctl import threadpool_limits

import decaf
from decaf.models import architectures

CORES = sorted(os.sched_getaffinity(0))
ROUNDS, ROWS, FEW_ROWS, AUDITED, PHOTOS = 3, 100_000, 50, 5_000, 60
CHOSEN = ("batch_size", "sources_per_block", "cluster")
"""Keys that decaf chooses itself where a study leaves them out."""
GOALS = {
    "run": 3.0,
    "audit": 2.0,
    "boosted": 1.5,
    "forest": 1.5,
    "photos": 1.0,
    "first": 10.0,
    "second": 6.0,
}
"""Largest ratio; of ``init``, seconds."""
SCRIPT = str(Path(__file__).with_name("by_hand.py"))
KINDS = {
    "table_pairs": "run",
    "image_pairs": "run",
    "image_features": "run",
    "arrays": "run",
    "registry": "reaudit",
}
"""Kind of ``decaf init``, and the command that its output names."""


def best(*measured: Callable[[], float]) -> list[float]:
    """Fewest seconds of each, measured in turns."""
    turns = [[measure() for measure in measured] for _ in range(ROUNDS)]
    return [min(seconds) for seconds in zip(*turns, strict=True)]


def processor(function: Callable[[], Any]) -> Callable[[], float]:
    """Measure the processor seconds of a call in this process."""

    def measure() -> float:
        started = time.process_time()
        function()
        return time.process_time() - started

    return measure


def run(folder: Path) -> dict[str, float]:
    """A study of many rows; processor seconds of the commands and all that they start."""
    started = folder / "init"
    command(folder, (DECAF, "init", "table_pairs", str(started)))
    fitted, measured = table_samples.pipeline(), {}
    for count in (ROWS, FEW_ROWS):
        sample = folder / str(count)
        sample.mkdir()
        rows, labels = rows_of(count, 1)
        names = pd.Series(np.arange(count)).map("r{:06}".format)
        rows.assign(row=names, granted=labels).to_csv(sample / "labelled.csv", index=False)
        rows.assign(row=names).to_csv(sample / "rows.csv", index=False)
        skops.io.dump(fitted, sample / "pipeline.skops")
        study = yaml.safe_load((started / "study.yaml").read_text())
        study = {key: value for key, value in study.items() if key not in CHOSEN}
        study["data"] |= {
            "table": "labelled.csv",
            "id": "row",
            "classes": [0, 1],
            "changes": {
                "x0": {"add": {"x0": 1}},
                "age": {"add": {"age": 10}},
                "t0": {"set": {"t0": "level_2"}},
            },
        }
        study["models"][0] |= {"classes": [0, 1]}
        study["expect"] = {"x0": "control"}
        (sample / "study.yaml").write_text(yaml.safe_dump(study, sort_keys=False))
        measured[count] = best(
            lambda sample=sample: command(fresh(sample)).cpu,
            lambda sample=sample: command(sample, (sys.executable, SCRIPT, "table")).cpu,
        )
    (ours, script), (ours_fixed, script_fixed) = measured[ROWS], measured[FEW_ROWS]
    return {
        "decaf_seconds": ours,
        "decaf_fixed_seconds": ours_fixed,
        "script_seconds": script,
        "script_fixed_seconds": script_fixed,
        "ratio": (ours - ours_fixed) / (script - script_fixed),
    }


def fresh(sample: Path) -> Path:
    """Folder of a study without the results of earlier runs."""
    for name in ("workspace", "warehouse", "runs"):
        shutil.rmtree(sample / name, ignore_errors=True)
    return sample


def audited(model: Any, rows: pd.DataFrame) -> dict[str, float]:
    """``decaf.audit`` of three changes; processor seconds."""
    counterfactuals = changes(rows)

    def ours() -> None:
        for counterfactual in counterfactuals:
            decaf.audit(model, rows, counterfactual, target=1).summary()

    def script() -> None:
        for counterfactual in counterfactuals:
            audit_rows(model.predict_proba, rows, counterfactual)

    seconds = best(processor(ours), processor(script))
    return {
        "decaf_seconds": seconds[0],
        "script_seconds": seconds[1],
        "ratio": seconds[0] / seconds[1],
    }


def audit(folder: Path) -> dict[str, float]:
    """The pipeline of ``run``."""
    return audited(table_samples.pipeline(), rows_of(AUDITED, 1)[0])


def boosted(folder: Path) -> dict[str, float]:
    """XGBoost on categories."""
    return audited(table_samples.booster(), with_categories(rows_of(AUDITED, 1)[0]))


def forest(folder: Path) -> dict[str, float]:
    """300 trees."""
    return audited(table_samples.forest(), rows_of(AUDITED, 1)[0])


def photos(folder: Path) -> dict[str, float]:
    """A network on random pixels; wall seconds of both commands on two cores, in all."""
    network = card(
        folder,
        "squeezenet",
        0,
        "torchvision:squeezenet1_1",
        input_size=224,
        arguments={"num_classes": 2},
    )
    torch.manual_seed(0)
    built = architectures.build("torchvision:squeezenet1_1", {"num_classes": 2})
    torch.save(built.state_dict(), folder / "weights.pt")
    drawn = np.random.default_rng(0).integers(0, 256, (PHOTOS, 2, 224, 224, 3), np.uint8)
    lines = ["factual,counterfactual,label"]
    for pair, images in enumerate(drawn):
        for side, levels in zip(("plus", "minus"), images, strict=True):
            Image.fromarray(levels).save(folder / f"{pair:02}-{side}.png")
        lines.append(f"{pair:02}-plus.png,{pair:02}-minus.png,{'ab'[pair % 2]}")
    (folder / "pairs.csv").write_text("\n".join(lines))
    write_study(
        folder,
        [network],
        data={"adapter": "image_pairs", "pairs": "pairs.csv", "classes": ["a", "b"]},
        score={"kind": "class_probability", "classes": 2, "target": 0},
        paths={"blend": {"kind": "blend"}},
        epsilon=0.02,
    )
    os.sched_setaffinity(0, CORES[:2])
    ours, script = best(
        lambda: command(fresh(folder)).wall,
        lambda: command(folder, (sys.executable, SCRIPT, "photos")).wall,
    )
    os.sched_setaffinity(0, CORES[:1])
    return {"decaf_seconds": ours, "script_seconds": script, "ratio": ours / script}


def init(folder: Path) -> dict[str, Any]:
    """Wall seconds of ``decaf init`` and its study, with all cores: the first and the second."""
    os.sched_setaffinity(0, CORES)
    home, seconds = os.environ["PREFECT_HOME"], {}
    for kind, verb in KINDS.items():
        os.environ["PREFECT_HOME"] = str(folder / f"prefect-{kind}")
        seconds_of_round = []
        for name in ("first", "second"):
            place = folder / name / kind
            place.parent.mkdir(exist_ok=True)
            begun = command(folder, (DECAF, "init", kind, str(place)))
            code = int(verb == "reaudit")  # a version of its registry fails its gates
            seconds_of_round.append(begun.wall + command(place, (DECAF, verb, *RUN[2:]), code).wall)
        seconds[kind] = dict(zip(("first", "second"), seconds_of_round, strict=True))
    os.environ["PREFECT_HOME"] = home
    os.sched_setaffinity(0, CORES[:1])
    return seconds


CASES = {case.__name__: case for case in (run, audit, boosted, forest, photos, init)}


def main() -> None:
    """Measure some cases, or all; figures of other cases stay in the file."""
    if len(sys.argv) < 2 or not {*sys.argv[2:]} <= {*CASES}:
        sys.exit(__doc__)
    warnings.simplefilter("ignore")
    os.sched_setaffinity(0, CORES[:1])
    threadpool_limits(1)
    results = Path(sys.argv[1])
    figures = json.loads(results.read_text()) if results.is_file() else {"goals": GOALS}
    names = ("torch", "scikit-learn", "pandas", "xgboost-cpu")
    machine = f"{platform.machine()}, {len(CORES)} cores; Python {platform.python_version()}"
    for name in sys.argv[2:] or CASES:
        with tempfile.TemporaryDirectory() as folder:
            os.environ["PREFECT_HOME"] = f"{folder}/prefect"
            load = os.getloadavg()[0]
            measured = CASES[name](Path(folder))
        versions = ", ".join(f"{package} {version(package)}" for package in names)
        figures[name] = measured | {"machine": f"{machine}, {versions}, load {load:.1f}"}
        print(name, json.dumps(figures[name]), flush=True)
        results.write_text(f"{json.dumps(figures, indent=1)}\n")


if __name__ == "__main__":
    main()
