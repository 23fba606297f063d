"""How far E, C and F of an audit move when its networks run in another precision, or compiled.

The networks of a configuration score the first block of its pairs as their cards say and with other
keys; every trajectory is compared with itself. Compiling itself is not timed. Nothing is written
but the figures.
Run: python benchmarks/precision.py CONFIG RESULTS.json [--precision bfloat16]
     [--compile-mode default] [--sources N] [--device cuda] [--models ID …]
"""

import argparse
import json
import platform
import time
from pathlib import Path
from typing import Any, get_args

import numpy as np
import torch

import decaf
from decaf.data.input_store import channels_first
from decaf.data.pairs import PairBlock
from decaf.models.compilation import CompileMode
from decaf.models.precision import Precision, exact_float32
from decaf.models.sources.network import NetworkCard
from decaf.plan.study import Study, load_study
from decaf.scoring.block import score_block
from decaf.scoring.planner import StatePlan, plan_states
from decaf.scoring.states import StateBuilder, on_device

MEASURES = ("endpoint_magnitude", "evidence", "contradiction", "fragility")


def audited(
    card: NetworkCard, study: Study, block: PairBlock, plan: StatePlan, levels: np.ndarray
) -> tuple[dict[str, np.ndarray], float]:
    """(n_trajectories,) of each measure, all paths one after the other, and rows per second."""
    score, device = study.score, torch.device(study.device)
    model = card.load(device)
    builder = StateBuilder(plan, on_device(levels, device))
    for size in {states.size for states in plan.batches(study.batch_size)}:
        model.outputs(builder.build(np.arange(size)))
    began = time.perf_counter()
    scored = score_block(
        plan,
        builder,
        lambda states: score.values(model.outputs(states), model.output),
        score.columns(block.class_id),
        study.batch_size,
        sign=score.sign,
    )
    rate = plan.state_count / (time.perf_counter() - began)
    parts = []
    for path, branches in scored.branches.items():
        responses = (branches[..., 0] - branches[..., 1]).reshape(-1, branches.shape[2])
        parts.append(decaf.profile(responses, plan.grids[path], study.epsilon))
    return {name: np.concatenate([getattr(p, name) for p in parts]) for name in MEASURES}, rate


def compared(
    card: NetworkCard, changed: dict[str, str], *given: Any
) -> dict[str, float | dict[str, dict[str, float]]]:
    """Mean of each measure, how far the mean moves, and how far one trajectory does at most."""
    exact, rate = audited(card, *given)
    other, other_rate = audited(card.model_copy(update=changed), *given)
    return {
        "rows_per_second": rate,
        "rows_per_second_other": other_rate,
        "measures": {
            name: {
                "mean": float(exact[name].mean()),
                "mean_moves": float(other[name].mean() - exact[name].mean()),
                "most": float(np.abs(other[name] - exact[name]).max()),
            }
            for name in MEASURES
        },
    }


def main() -> None:
    """Print a table, one network a row, and write the figures."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("config", type=Path)
    parser.add_argument("results", type=Path)
    parser.add_argument("--precision", choices=get_args(Precision))
    parser.add_argument("--compile-mode", choices=get_args(CompileMode))
    parser.add_argument("--sources", type=int, default=8)
    parser.add_argument("--device", default="cpu")
    parser.add_argument("--models", nargs="+")
    given = parser.parse_args()
    asked = {"precision": given.precision, "compile_mode": given.compile_mode}
    other = {key: value for key, value in asked.items() if value}
    if not other:
        parser.error("give --precision, --compile-mode or both")
    exact_float32()
    changed = {"device": given.device, "sources_per_block": given.sources}
    study = load_study(given.config).model_copy(update=changed)
    pairs = study.pair_set()
    block = pairs.block(study.blocks(pairs)[0])
    read = [study.data.read_input(pairs.inputs[place]) for place in block.input_positions]
    levels = channels_first(np.stack(read))
    plan = plan_states(block, levels, study.paths, study.grid)
    print(f"{platform.machine()}, {given.device}, torch {torch.__version__}, {other}")
    print(f"{block.pair_count} pairs, {plan.state_count} states, epsilon {study.epsilon:g}")
    named = [f"{name}: mean, moves, most" for name in MEASURES]
    print(f"| network | rows/s | rows/s, changed | {' | '.join(named)} |")
    print(f"|{'---|' * (3 + len(named))}")
    found = {}
    for card in study.models:
        if isinstance(card, NetworkCard) and card.id in (given.models or [card.id]):
            one = found[card.id] = compared(card, other, study, block, plan, levels)
            rates = f"{one['rows_per_second']:.1f} | {one['rows_per_second_other']:.1f}"
            shown = (
                f"{part['mean']:.4f}, {part['mean_moves']:+.1e}, {part['most']:.1e}"
                for part in one["measures"].values()
            )
            print(f"| {card.id} | {rates} | {' | '.join(shown)} |", flush=True)
            given.results.write_text(f"{json.dumps(found, indent=1)}\n")


if __name__ == "__main__":
    main()
