"""Audits that stop early: whether their bounds hold, and how much of a study they need.

Made-up scores of sources go through the looks of real re-audits (order, sums, gates, bounds), and
no network. An interval holds if those of all looks do, since what is read later may prove a wrong
bound wrong, and so hide it. Where a gate closes is found by halving. Gates of a false
alarm have the truth as their limit. ``replay`` reads what every source said from warehouses that
were scored to the end: each gate is put at a distance from what the whole audit found.
Run: python benchmarks/stopping.py RESULTS.json [--replay WAREHOUSE STUDY]... [--repeats N]
"""

import argparse
import json
import os
import platform
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, NamedTuple

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from decaf.data.pairs import Input, Pair, PairSet
from decaf.plan.study import Study
from tasks.looks.items import Group, Order
from tasks.looks.rules import Looker, Rule
from warehouse.query.catalog import connect

ERROR = 0.05
NORMAL = 1.96
"""Standard errors of a normal interval of 95 %, as people know it of one look at all."""
WALL = Group("wall", "blend", None)
Draw = Callable[[np.random.Generator, int], NDArray[np.float64]]
ALL = ("evidence", "contradiction", "fragility", "abs_response", "is_endpoint_active")
MODELS, GATES = 20, ("evidence", "contradiction", "fragility", "abs_response")
DISTANCES = (0.5, 1, 2, 4, 6, 8, 12, 20)
SOURCES, BLOCK = 1644, 12


class Setting(NamedTuple):
    """Scores of a version and of the one before, whose bounds have to hold."""

    name: str
    sources: int
    metric: str
    is_change: bool
    draw: Callable[[np.random.Generator, int], dict[str, NDArray[np.float64]]]


def beta(a: float, b: float, **columns: Any) -> Any:
    """A column of values of a Beta distribution."""
    return lambda random, n: {"evidence": random.beta(a, b, n)}


def rare(random: np.random.Generator, n: int) -> dict[str, NDArray[np.float64]]:
    """One source in a hundred has all of it."""
    return {"evidence": (random.random(n) < 0.01).astype(float)}


def heavy(random: np.random.Generator, n: int) -> dict[str, NDArray[np.float64]]:
    """A Pareto tail of index 1.1, cut off where the score ends."""
    return {"evidence": np.minimum(0.01 * (1 + random.pareto(1.1, n)), 1.0)}


def changed(by: float, spread: float, freedom: float = np.inf) -> Any:
    """A version that differs from the one before by so much, and by noise of Student's t."""

    def draw(random: np.random.Generator, n: int) -> dict[str, NDArray[np.float64]]:
        before = random.beta(2, 5, n)
        noise = random.standard_t(freedom, n) if np.isfinite(freedom) else random.normal(size=n)
        return {
            "evidence": np.clip(before + by + spread * noise, 0, 1),
            "evidence_before": before,
        }

    return draw


def shares(skewed: bool) -> Any:
    """Responses of which each is of one role, small ones evidence and large ones not."""

    def draw(random: np.random.Generator, n: int) -> dict[str, NDArray[np.float64]]:
        whole = random.beta(0.3, 3, n) if skewed else random.beta(2, 5, n)
        is_evidence = whole < np.quantile(whole, 0.9) if skewed else random.random(n) < 0.7
        return {"evidence": whole * is_evidence, "abs_response": whole}

    return draw


SETTINGS = (
    Setting("mean, far from both ends", 400, "evidence", False, beta(5, 5)),
    Setting("mean, skewed", 400, "evidence", False, beta(0.2, 2)),
    Setting("mean, heavy tail", 400, "evidence", False, heavy),
    Setting("mean, one source in 100 has all", 400, "evidence", False, rare),
    Setting("mean, few sources", 12, "evidence", False, beta(2, 5)),
    Setting(
        "share that is active, 5 %",
        400,
        "active_frac",
        False,
        lambda random, n: {"is_endpoint_active": (random.random(n) < 0.05).astype(float)},
    ),
    Setting("change, none", 400, "evidence", True, changed(0.0, 0.02)),
    Setting("change, small", 400, "evidence", True, changed(0.01, 0.05)),
    Setting("change, large", 400, "evidence", True, changed(0.3, 0.1)),
    Setting("change, heavy tail", 400, "evidence", True, changed(0.0, 0.02, 1.5)),
    Setting("share of a role", 400, "evidence_frac", False, shares(skewed=False)),
    Setting("share of a role, skewed", 400, "evidence_frac", False, shares(skewed=True)),
)


def study(folder: Path, stop: dict[str, Any], block: int, gates: Any) -> Study:
    """A study of a registry that stops early; nothing of it is scored."""
    return Study(
        study="made_up",
        data={"adapter": "shapes3d", "sources": 2},
        registry={"kind": "folder", "root": str(folder)},
        gates=gates,
        score={"kind": "class_probability", "classes": 2},
        paths={"blend": {"kind": "blend"}},
        sources_per_block=block,
        stop=stop,
    )


def paired(count: int) -> PairSet:
    """A pair of each source."""
    inputs = tuple(Input(f"i{n}", "factual", f"{n}", "") for n in range(2))
    pairs = (Pair(f"p{n}", f"s{n}", "wall", 0, "test", 0, 1) for n in range(count))
    return PairSet(inputs, tuple(pairs), "")


class Replayed:
    """Looks at made-up or stored scores, drawn into another order by every seed."""

    def __init__(self, folder: Path, sources: int, block: int, rules: list[Rule]) -> None:
        stop = {"when": "gates_decided", "error": ERROR, "at_least": "1 block"}
        own = study(folder, stop, block, {"evidence": {"at_most": 1}})
        pairs = paired(sources)
        self.order = Order(own, pairs)
        self.looker = Looker(own, pairs, self.order, rules)
        self.blocks, self.names = len(own.blocks(pairs)), list(self.order.place_of)

    def look(self, rule: Rule, columns: dict[str, NDArray[np.float64]], blocks: int) -> Any:
        """A rule after the first blocks; columns are in the drawn order."""
        count = self.order.sources_before(blocks)
        absent = dict.fromkeys((*ALL, *(f"{name}_before" for name in ALL)), np.zeros(count))
        given = {name: own[:count] for name, own in columns.items()}
        ones = dict.fromkeys(("weight", "row_count", "compared_count"), np.ones(count))
        sums = pa.table({"source_id": self.names[:count]} | absent | ones | given)
        return self.looker.look(rule, sums, blocks)

    def closes(self, rule: Rule, columns: dict[str, NDArray[np.float64]]) -> tuple[int, str]:
        """Blocks after which a rule is decided, and how."""
        low, high = 1, self.blocks
        while low < high:
            middle = (low + high) // 2
            if self.look(rule, columns, middle).is_closed:
                high = middle
            else:
                low = middle + 1
        return low, str(self.look(rule, columns, low).verdict)


def rule(metric: str, name: str, limit: float, entry: str = "net") -> Rule:
    """One rule of a gate."""
    return Rule(entry=entry, model_id="net", metric=metric, name=name, group=WALL, limit=limit)


def truth(metric: str, columns: dict[str, NDArray[np.float64]], *, is_change: bool) -> float:
    """What the whole list says."""
    if metric == "evidence_frac":
        return float(columns["evidence"].sum() / columns["abs_response"].sum())
    column = "is_endpoint_active" if metric == "active_frac" else metric
    before = columns[f"{column}_before"] if is_change else 0.0
    return float((columns[column] - before).mean())


def coverage(folder: Path, repeats: int) -> list[dict[str, Any]]:
    """By setting, how often an interval of 95 % held at all looks, beside one of a naive kind."""
    rows = []
    for number, setting in enumerate(SETTINGS):
        names = ("increase", "decrease") if setting.is_change else ("at_most", "at_least")
        rules = [rule(setting.metric, name, 0.5) for name in names]  # so two bounds share the error
        block = max(1, setting.sources // 20)
        replayed = Replayed(folder, setting.sources, block, rules)
        held = naive = 0
        for seed in range(repeats):
            random = np.random.default_rng([number, seed])
            columns = setting.draw(random, setting.sources)
            value = truth(setting.metric, columns, is_change=setting.is_change)
            looks = (replayed.look(rules[0], columns, n) for n in range(1, replayed.blocks))
            held += all(
                limits.lower - 1e-9 <= value <= limits.upper + 1e-9
                for limits in (look.known.limits for look in looks)
            )
            steps = _steps(setting, columns, value)
            naive += not any(abs(z) > NORMAL for z in _looked_at(steps, block))
        rows.append(
            {
                "setting": setting.name,
                "sources": setting.sources,
                "held": held / repeats,
                "naive_held": naive / repeats,
            }
        )
        print(rows[-1], flush=True)
    return rows


def _steps(
    setting: Setting, columns: dict[str, NDArray[np.float64]], value: float
) -> NDArray[np.float64]:
    """What each source says, less the truth: numbers whose mean is 0."""
    if setting.metric == "evidence_frac":
        return columns["evidence"] - value * columns["abs_response"]
    own = columns["is_endpoint_active" if setting.metric == "active_frac" else setting.metric]
    return own - value - (columns["evidence_before"] if setting.is_change else 0.0)


def _looked_at(steps: NDArray[np.float64], block: int) -> Iterator[float]:
    """How many standard errors the mean lies from 0, after every block but the last."""
    n = steps.size
    for count in range(max(2, block), n, block):
        seen = steps[:count]
        error = seen.std(ddof=1) / np.sqrt(count) * np.sqrt(1 - count / n)
        yield float(seen.mean() / error) if error else 0.0


def false_alarms(folder: Path, repeats: int) -> dict[str, Any]:
    """Re-audits of models that are exactly at their gates: how many say that any of them fails."""
    rules = [rule(metric, "increase", 0.0, f"net {n}") for n in range(MODELS) for metric in GATES]
    replayed = Replayed(folder, 400, 20, rules)
    alarms = naive_alarms = 0
    for seed in range(repeats):
        random = np.random.default_rng([99, seed])
        failed = naive = False
        for own in rules:
            columns = changed(0.01, 0.05)(random, 400)
            now, before = columns["evidence"], columns["evidence_before"]
            at = replace(own, limit=float((now - before).mean()))
            renamed = {own.metric: now, f"{own.metric}_before": before}
            # Changes lie far from their bounds, so that what is left can prove no bound wrong.
            failed |= replayed.look(at, renamed, replayed.blocks - 1).verdict == "fail"
            steps = now - before - at.limit
            naive = naive or any(z > NORMAL for z in _looked_at(steps, 20))
        alarms, naive_alarms = alarms + failed, naive_alarms + naive
    found = {
        "models": MODELS,
        "gates": len(GATES),
        "reaudits": repeats,
        "alarms": alarms / repeats,
        "naive_alarms": naive_alarms / repeats,
    }
    print(found, flush=True)
    return found


def savings(folder: Path, repeats: int) -> list[dict[str, Any]]:
    """Share of the sources that a gate needs, by its distance from the truth."""
    rows = []
    for hypotheses in (1, MODELS * len(GATES)):
        rules = [rule("evidence", "increase", 0.0, f"net {n}") for n in range(hypotheses)]
        replayed = Replayed(folder, SOURCES, BLOCK, rules)
        for distance in DISTANCES:
            needed, wrong = [], 0
            for seed in range(repeats):
                random = np.random.default_rng([7, seed])
                columns = changed(0.02, 0.1)(random, SOURCES)
                change = columns["evidence"] - columns["evidence_before"]
                step = distance * change.std(ddof=1) / np.sqrt(SOURCES)
                sign = 1 if seed % 2 else -1
                at = replace(rules[0], limit=float(change.mean() + sign * step))
                blocks, verdict = replayed.closes(at, columns)
                needed.append(replayed.order.sources_before(blocks) / SOURCES)
                wrong += verdict != ("pass" if sign > 0 else "fail")
            quantiles = np.quantile(needed, [0.1, 0.5, 0.9]).round(3).tolist()
            rows.append(
                {
                    "hypotheses": hypotheses,
                    "distance": distance,
                    "wrong": wrong / repeats,
                    "share": dict(zip(("p10", "median", "p90"), quantiles, strict=True)),
                }
            )
            print(rows[-1], flush=True)
    return rows


def replay(folder: Path, warehouse: str, name: str, repeats: int) -> list[dict[str, Any]]:
    """Gates on E of every model and pair type of a study that was scored to its end."""
    with connect(warehouse) as connection:
        stored = connection.execute(
            "SELECT model_id, pair_type, path, source_id, sum(weight * evidence) / sum(weight) "
            "FROM core_profiles WHERE study = ? GROUP BY ALL ORDER BY ALL",
            [name],
        ).fetchnumpy()
    groups = np.array(
        [
            "/".join(row)
            for row in zip(
                *(stored[key].astype(str) for key in ("model_id", "pair_type", "path")), strict=True
            )
        ]
    )
    values = next(own for key, own in stored.items() if key.startswith("(sum"))
    lists = [np.clip(values[groups == group], 0, 1) for group in np.unique(groups)]
    sources = {own.size for own in lists}
    if len(sources) != 1:
        raise SystemExit(f"groups of {name} have {sorted(sources)} sources; expected as many each")
    (count,) = sources
    rows = []
    rules = [rule("evidence", "at_most", 0.5, f"net {n}") for n in range(len(lists))]
    replayed = Replayed(folder, count, max(1, count // 50), rules)
    for distance in DISTANCES:
        needed, wrong = [], 0
        for number, own in enumerate(lists):
            if own.std() == 0.0:
                continue
            for seed in range(repeats):
                drawn = np.random.default_rng([number, seed]).permutation(own)
                sign = 1 if seed % 2 else -1
                step = sign * distance * own.std(ddof=1) / np.sqrt(count)
                at = replace(rules[number], limit=float(own.mean() + step))
                if not 0.0 < at.limit < 1.0:
                    continue
                blocks, verdict = replayed.closes(at, {"evidence": drawn})
                needed.append(replayed.order.sources_before(blocks) / count)
                wrong += verdict != ("pass" if sign > 0 else "fail")
        if needed:
            quantiles = np.quantile(needed, [0.1, 0.5, 0.9]).round(3).tolist()
            rows.append(
                {
                    "study": name,
                    "sources": count,
                    "gates": len(lists),
                    "distance": distance,
                    "decisions": len(needed),
                    "wrong": wrong / len(needed),
                    "share": dict(zip(("p10", "median", "p90"), quantiles, strict=True)),
                }
            )
            print(rows[-1], flush=True)
    return rows


def main() -> None:
    """Measure, print as it goes, and write everything to one file."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("results", type=Path)
    parser.add_argument("--replay", nargs=2, action="append", default=[])
    parser.add_argument("--repeats", type=int, default=2000)
    given = parser.parse_args()
    few = max(1, given.repeats // 10)
    with TemporaryDirectory() as name:
        folder = Path(name)
        found = {
            "machine": {"cpu": platform.processor() or platform.machine(), "cores": os.cpu_count()},
            "repeats": given.repeats,
            "coverage": coverage(folder, given.repeats),
            "false_alarms": false_alarms(folder, few),
            "savings": savings(folder, max(2, few // 3)),
            "replay": [
                row
                for warehouse, study_name in given.replay
                for row in replay(folder, warehouse, study_name, max(2, few // 20))
            ],
        }
    given.results.write_text(json.dumps(found, indent=1) + "\n")


if __name__ == "__main__":
    main()
