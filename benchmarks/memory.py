"""What ``decaf plan`` says that a worker takes of the memory, and what it then takes.

Untrained networks are tried as the plan does, and audited by a real ``decaf run`` on one worker of
one thread: 224 px images of random pixels, blend and two patch orders, 244 states in a block. Taken
is the peak RSS of the worker, by the table ``costs``.
Run: python benchmarks/memory.py RESULTS.json [network …]
"""

import json
import subprocess
import sys
import tempfile
from contextlib import chdir
from pathlib import Path

from host import images
from small_study import card, write_study

from decaf.foundation.callables import import_from
from decaf.plan.study import load_study
from tasks.memory import needs
from tasks.plan import plan_audit
from tasks.trial import refuse_unusable
from warehouse.query.catalog import connect

DECAF = str(Path(sys.executable).parent / "decaf")
SOURCES, SIDE = 4, 224
CASES = {
    "resnet18, batches of 64": ("torchvision:resnet18", 64),
    "resnet18, batches of 16": ("torchvision:resnet18", 16),
    "mobilenet_v2, batches of 64": ("torchvision:mobilenet_v2", 64),
    "squeezenet1_1, batches of 128": ("torchvision:squeezenet1_1", 128),
    "convnext_tiny, batches of 32": ("torchvision:convnext_tiny", 32),
    "a constant, batches of 128": ("factory:constant:build", 128),
}


def measured(name: str, folder: Path) -> dict[str, float]:
    """Bytes that the plan states and that the worker takes."""
    architecture, rows = CASES[name]
    classes = {"classes": 9} if architecture.startswith("factory:") else {"num_classes": 9}
    own = card(folder, "net", 0, architecture, arguments=classes, input_size=SIDE)
    write_study(
        folder,
        [own],
        **images(folder, SOURCES, SIDE),
        score={"kind": "class_probability", "classes": 9},
        batch_size=rows,
        cluster={"kind": "local", "workers": 1},
    )
    with chdir(folder):
        study = load_study(Path("study.yaml"))
        import_from(study.python_path)
        planned = plan_audit(study, study.pair_set())
        tried = refuse_unusable(planned, is_measured=True)
    footprints = [model.footprint for model in tried.models.values() if model.footprint]
    (need,) = needs(planned.study, planned.pairs, footprints)
    subprocess.run([DECAF, "run", "study.yaml"], cwd=folder, check=True, capture_output=True)
    with connect(str(folder / "warehouse")) as connection:
        ((taken,),) = connection.sql("SELECT max(peak_memory_bytes) FROM stg_costs").fetchall()
    return {**need._asdict(), "taken": taken, "ratio": need.total / taken}


def main() -> None:
    """Print a table, one case a row, and write the figures."""
    if len(sys.argv) < 2:
        sys.exit(__doc__)
    print("| case | with the model, MB | inputs | a batch | stated | taken | stated / taken |")
    print("|---|---|---|---|---|---|---|")
    results, found = Path(sys.argv[1]).absolute(), {}
    for name in sys.argv[2:] or CASES:
        with tempfile.TemporaryDirectory() as folder:
            found[name] = one = measured(name, Path(folder))
        parts = (one[part] / 1e6 for part in ("held", "inputs", "batch", "total", "taken"))
        shown = " | ".join(f"{part:,.0f}" for part in parts)
        print(f"| {name} | {shown} | {one['ratio']:.2f} |", flush=True)
        results.write_text(f"{json.dumps(found, indent=1)}\n")


if __name__ == "__main__":
    main()
