"""The page of one trajectory: its card, values by stage, and the same pair elsewhere."""

from typing import Any, NamedTuple

import numpy as np
import pyarrow as pa

from decaf.foundation.number_text import score_text, signed_text, tick_text
from decaf.library.curve import response_of, stage_words
from flows.view.addresses import Address, BadAddress, restrictions
from flows.view.declared import TRAJECTORY
from flows.view.snapshot import Record, Snapshot
from flows.view.tables import bar_of
from warehouse.query.pages import Question, filter_rows
from warehouse.query.views import query
from warehouse.report.audit.facts import COMPONENTS
from warehouse.report.page import score_definition
from warehouse.report.pair_card import Card, card_of_pair, scale_of_pair

PAGE = "trajectory"


class Stage(NamedTuple):
    """One line of the values: texts, its role, and its bar in percent from the left."""

    t: str
    factual: str
    changed: str
    response: str
    role: str
    start: float
    width: float


class Elsewhere(NamedTuple):
    """The pair in another model."""

    name: str
    link: str
    bar: list[tuple[str, float]]
    value: str
    is_current: bool


class OtherPath(NamedTuple):
    """The pair on another path, or in another repetition."""

    name: str
    link: str
    card: Card
    response: str


class Trajectory(NamedTuple):
    """Everything that the page shows."""

    address: Address
    pair: Record
    card: Card
    scale: str
    """Response at the top of the curves, in words."""
    sums: dict[str, str]
    """E, C, F and Abs in words."""
    stage_words: str
    """Sentence on the change without every second stage; empty if it cannot be computed."""
    score: str
    stages: list[Stage]
    models: list[Elsewhere]
    models_scale: str
    """Response at the end of the bars of models, in words."""
    paths: list[OtherPath]
    previous: str
    next: str
    """Links to the pairs of the next larger and smaller response; empty at the ends."""
    question: Question
    answer: pa.Table


def read_trajectory(snapshot: Snapshot, address: Address) -> Trajectory | None:
    """Read one trajectory; None if the warehouse does not have it.

    Raises BadAddress for an address that does not name one.
    """
    if {*address.fixed_values} != {*TRAJECTORY}:
        raise BadAddress(f"the address of a trajectory has {', '.join(TRAJECTORY)}; choose a pair")
    columns = snapshot.columns_of(PAGE)
    question = filter_rows(Question(query(f"view/{PAGE}"), {}), restrictions(address, columns))
    fixed_values: Record = {
        **address.fixed_values,
        "repetition": int(address.fixed_values["repetition"]),
    }
    study, model_id, pair_id, path, repetition = (fixed_values[name] for name in TRAJECTORY)
    pairs = snapshot.ask_query("pair", study=study, model_id=model_id, pair_id=pair_id)
    shown = {"model_id": snapshot.display_name(study, "model_id", model_id)}
    pairs = [row | shown for row in pairs]
    place = (path, repetition)
    pair = next((row for row in pairs if (row["path"], row["repetition"]) == place), None)
    if pair is None:
        return None
    question = question._replace(sql=f"{question.sql}\nORDER BY stage")
    answer = snapshot.ask(question)
    scale = max(map(scale_of_pair, pairs))
    neighbours = snapshot.ask_query(
        "neighbours",
        **{name: fixed_values[name] for name in TRAJECTORY},
        pair_type=pair["pair_type"],
    )[0]
    in_models = snapshot.ask_query(
        "pair_in_models", study=study, pair_id=pair_id, path=path, repetition=repetition
    )
    largest = max([scale, *(row["abs_response"] for row in in_models)])
    return Trajectory(
        address,
        pair,
        card_of_pair(pair, scale),
        tick_text(scale),
        {name: score_text(pair[name]) for name in (*COMPONENTS, "abs_response")},
        stage_words(pair["t"], response_of(pair["q_plus"], pair["q_minus"]), pair["epsilon"]),
        score_definition(pair["score"]),
        [_stage(row, scale) for row in answer.to_pylist()],
        [_in_model(snapshot, address, row, largest) for row in in_models],
        tick_text(largest),
        [_other_path(address, row, scale) for row in pairs if row is not pair],
        _link(address, neighbours["previous"]),
        _link(address, neighbours["next"]),
        question,
        answer,
    )


def _stage(row: Record, scale: float) -> Stage:
    role = next((name for name in COMPONENTS if row[name] > 0), "none")
    half = float(np.clip(50 * row["response"] / scale, -50, 50))
    return Stage(
        tick_text(row["t"]),
        score_text(row["q_plus"]),
        score_text(row["q_minus"]),
        signed_text(row["response"]),
        role,
        round(50 + min(half, 0), 2),
        round(abs(half), 2),
    )


def _in_model(snapshot: Snapshot, address: Address, row: Record, scale: float) -> Elsewhere:
    return Elsewhere(
        snapshot.display_name(address.fixed_values["study"], "model_id", row["model_id"]),
        address.with_fixed_values(model_id=row["model_id"]).link(),
        bar_of(row, scale),
        score_text(row["abs_response"]),
        row["model_id"] == address.fixed_values["model_id"],
    )


def _other_path(address: Address, row: Record, scale: float) -> OtherPath:
    repetition = str(row["repetition"])
    is_same = row["path"] == address.fixed_values["path"]
    return OtherPath(
        row["path_name"] + (f", repetition {repetition}" if is_same else ""),
        address.with_fixed_values(path=row["path"], repetition=repetition).link(),
        card_of_pair(row, scale),
        score_text(row["abs_response"]),
    )


def _link(address: Address, pair: dict[str, Any] | None) -> str:
    if pair is None:
        return ""
    fixed_values = {"pair_id": pair["pair_id"], "repetition": str(pair["repetition"])}
    return address.with_fixed_values(**fixed_values).link()
