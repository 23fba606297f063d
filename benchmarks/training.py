"""Images per second of the controlled trainings, of the paper's two networks on one worker.

A real ``decaf run`` trains a ResNet-18 and a small ViT on scenes for two epochs, as the paper's
profiles do, and audits them on a few pairs; each training notes its own images per second, without
measuring accuracies.
Run: python benchmarks/training.py FOLDER RESULTS.json [--scenes N] [--device cuda]
"""

import argparse
import json
import os
from pathlib import Path

from commands import command
from small_study import write_study

from decaf.plan.study import load_study
from warehouse.query.catalog import connect

PAPER = Path(__file__).parents[1] / "configs" / "scenes" / "contradiction_paper.yaml"
EPOCHS = 2


def main(given: argparse.Namespace) -> None:
    """Write images per second by network, and print them."""
    folder = given.folder.absolute()
    folder.mkdir(parents=True)
    os.environ["PREFECT_HOME"] = str(folder / "prefect")
    paper = json.loads(load_study(PAPER).model_dump_json(exclude_unset=True))
    first = {card["family"]: card for card in reversed(paper["models"])}
    shorter = {"epochs": EPOCHS, "epochs_at_most": EPOCHS, "scenes": given.scenes}
    for card in first.values():
        held_out = min(given.scenes, card["training"]["validation_scenes"])
        card["training"] |= shorter | {"validation_scenes": held_out}
    cluster = {"kind": "cuda"} if given.device == "cuda" else {"kind": "local", "workers": 1}
    write_study(
        folder,
        list(first.values()),
        data=paper["data"] | {"sources": 2},
        paths=paper["paths"],
        score=paper["score"],
        device=given.device,
        cluster=cluster,
    )
    command(folder)
    with connect(folder / "warehouse") as connection:
        found = connection.sql(
            "SELECT DISTINCT family, (outcome ->> '$.images_per_second')::DOUBLE AS speed "
            "FROM out_training JOIN out_models USING (study, model_id) ORDER BY family"
        ).fetchall()
    figures = {
        family: {"scenes": given.scenes, "images_per_second": speed} for family, speed in found
    }
    text = json.dumps(figures, indent=1)
    given.results.write_text(f"{text}\n")
    print(text)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__.split("\n", 1)[0])
    parser.add_argument("folder", type=Path)
    parser.add_argument("results", type=Path)
    parser.add_argument("--scenes", type=int, default=60_000)
    parser.add_argument("--device", default="cpu")
    main(parser.parse_args())
