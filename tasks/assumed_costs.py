"""Hours, disk and money of a study on assumed devices, even without its data and models."""

import csv
import re
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

from decaf.data.pairs import PairSet
from decaf.errors import BadInput, number_of
from decaf.models.sources.network import NetworkCard
from decaf.plan.study import Study
from tasks.sizes import load_of, states_of_pair

MEASURED = Path(__file__).with_name("measured_rates.csv")
"""Figures of ``benchmarks/README.md``: networks on inputs of 224 px, float32."""
PIXELS = 224
BYTES_PER_STAGE = 142e6 / 710_208 / 9
"""Warehouse bytes of a stage of a trajectory, measured by ``benchmarks/views.py``."""
DEVICES = re.compile(r"(?:(\d+)x)?([A-Za-z][\w-]*)")


class Rate(NamedTuple):
    """Forward rows per second of all assumed devices."""

    slowest: float
    fastest: float
    """Rate of the fastest measured network; equal to ``slowest`` if the rate is given."""
    memory: tuple[int, int] | None
    """Memory of measured networks, MB; None if the rate is given."""
    remarks: tuple[str, ...]
    """Sentences on the source of the rate."""


class Costs(NamedTuple):
    """Work and costs of a whole study, and the work that they do not include."""

    rows: int
    """Upper bound of the forward rows of all models."""
    hours: tuple[float, float]
    """Hours at the fastest and at the slowest rate."""
    disk_bytes: int
    """Bytes of trajectories in the warehouse."""
    input_bytes: int | None
    """Upper bound of the bytes of stored inputs; None without data."""
    left_out: tuple[str, ...]


def parse_rate(text: str, study: Study) -> Rate:
    """Read a rate: rows per second (``2500``), or measured devices (``4xH100``).

    Raises BadInput for a rate that is not above zero, for a device without measured rates, and if
    the rates do not apply to the models of the study.
    """
    try:
        rate = float(text)
    except ValueError:
        return _measured_rate(text, study.models)
    if not 0 < rate < float("inf"):
        raise BadInput(f"--assume {text}: expected rows per second above zero, such as 2500")
    return Rate(rate, rate, None, ())


def _measured_rate(text: str, models: Sequence[object]) -> Rate:
    by_hand = "give rows per second by hand, such as --assume 2500"
    with MEASURED.open(newline="", encoding="utf-8") as file:
        measured_lines = list(csv.DictReader(file))
    devices = {line["device"].casefold(): line["device"] for line in measured_lines}
    match = DEVICES.fullmatch(text)
    if match is None or int(match[1] or 1) == 0:
        raise BadInput(f"--assume {text}: expected devices, such as 4xH100, or {by_hand}")
    count, name = int(match[1] or 1), devices.get(match[2].casefold())
    if name is None:
        measured = ", ".join(sorted(devices.values()))
        raise BadInput(f"--assume {text}: no rates of {match[2]}, only of {measured}; {by_hand}")
    if not models or not all(map(_is_like_measured, models)):
        raise BadInput(
            f"--assume {text}: rates of {name} are for networks with an 'input_size:' from "
            f"{PIXELS // 2} to {2 * PIXELS}, which some models of this study are not; {by_hand}"
        )
    lines = [line for line in measured_lines if line["device"] == name]
    rates = [float(line["rows_per_second"]) for line in lines]
    networks = ", ".join(line["network"] for line in lines)
    remarks = [f"rates of one {name} are of {networks} at {PIXELS} px; other networks differ"]
    if count_of_size := sum(card.input_size != PIXELS for card in models):
        remarks.append(f"{number_of(count_of_size, 'model')} of the study take another size")
    if count > 1:
        remarks.append(f"several {name} were not measured; assumed: {count} times the rate of one")
    memory = [int(line["peak_mb"]) for line in lines]
    return Rate(count * min(rates), count * max(rates), (min(memory), max(memory)), tuple(remarks))


def _is_like_measured(card: object) -> bool:
    """True for a network whose inputs are of about the measured size."""
    size = card.input_size if isinstance(card, NetworkCard) else None
    return size is not None and PIXELS / 2 <= size <= 2 * PIXELS


def assumed_costs(study: Study, rate: Rate, pairs: PairSet | None, pair_count: int) -> Costs:
    """Costs of all models and pairs of a study, as if nothing were stored.

    Without pairs, ``pair_count`` counts, every path scores all of them, and attribution methods are
    left out. States that are equal count each time, so the rows are an upper bound.
    """
    left_out = []
    if pairs is None:
        rows = pair_count * sum(states_of_pair(path, study.grid) for path in study.paths.values())
        input_bytes = None
        if study.attributions:
            left_out.append(f"{number_of(len(study.attributions), 'attribution method')}")
    else:
        pair_count, load = len(pairs.pairs), load_of(study, pairs)
        row_load = load.states_per_source + load.attribution_rows_per_source
        rows = round(load.source_count * row_load)
        input_bytes = round(load.source_count * load.bytes_per_source)
        if study.attributions:
            left_out.append("the longer time of a backward row: it counts as a forward row")
    trainings = sum(getattr(card, "training", None) is not None for card in study.models)
    left_out += [number_of(trainings, "training")] * bool(trainings)
    left_out += [number_of(len(study.baselines), "baseline")] * bool(study.baselines)
    left_out += ["measurements for 'labels:'"] * (study.labels is not None)
    stages_per_pair = sum(
        path.repetitions * path.grid(study.grid).size for path in study.paths.values()
    )
    model_count = len(study.models)
    hours = [model_count * rows / each / 3600 for each in (rate.fastest, rate.slowest)]
    return Costs(
        model_count * rows,
        (hours[0], hours[1]),
        round(model_count * pair_count * stages_per_pair * BYTES_PER_STAGE),
        input_bytes,
        tuple(left_out),
    )
