"""Carry out ``decaf data``: check and show the pairs of a study before any scoring."""

import json
from collections.abc import Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Any

from rich.console import Console
from rich.text import Text

from decaf.data.change_sizes import change_sizes, remarks_on_controls
from decaf.data.input_store import read_every_input
from decaf.data.mask_coverage import check_coverage, read_words
from decaf.data.model_inputs import model_inputs
from decaf.data.overview import counts, describe_pair, some_pairs
from decaf.errors import BadInput, abridge, number_of
from decaf.foundation.readiness import run_checks
from decaf.plan.expectations import kinds_of
from decaf.plan.study import load_study
from flows.commands.display import table_of
from flows.commands.terminal import say
from tasks.progress import announce_while_running
from warehouse.report.data_sheet import write_data_sheet

COLUMNS = ("pair", "type", "source", "split", "class", "factual", "counterfactual", "size")
MOST_NAMES = 12
"""Most classes, splits or types that a line names."""


def show_data(console: Console, config: Path, html: Path | None, *, is_json: bool) -> None:
    """Check the pairs of a study like a run, and read every input as a run does.

    Print counts and ten pairs, and write a data sheet.
    """
    study = load_study(config)
    with announce_while_running(f"reading the pairs of study {study.study}"):
        pairs = study.pair_set()
        study.data.verify(pairs)
        words = read_words(pairs, study.data.read_mask)
        data_counts = counts(pairs, words)
        remarks = [*pairs.remarks, *check_coverage(pairs, words)]
        read_every_input(pairs.input_set, study.data.read_input, study.data.read_inputs)
    shown = some_pairs(pairs, study.data.read_input, study.data.read_mask)
    rows = [describe_pair(example) for example in shown]
    checks = [(card.id, partial(card.check_columns, pairs.columns)) for card in study.models]
    try:
        remarks, problem = [*remarks, *run_checks(checks)], None
    except BadInput as error:  # raised once the pairs are shown
        problem = error
    input_facts = model_inputs(pairs, shown)
    sentence = (
        [input_facts.sentence(has_channels=hasattr(study.data, "channels"))] if input_facts else []
    )
    sizes = change_sizes(pairs, study.data.read_input)
    remarks += remarks_on_controls(sizes, kinds_of(study.expect))
    lines = [
        *_summary(study.study, data_counts, pairs.class_names),
        *_sizes_in_words(sizes),
        *sentence,
        *remarks,
    ]
    if is_json:
        answer = {
            "study": study.study,
            **data_counts,
            **({"model_inputs": input_facts.as_json()} if input_facts else {}),
        }
        answer |= {"class_names": list(pairs.class_names)}
        answer |= {"change_sizes": sizes, "remarks": remarks, "examples": rows}
        say(console, json.dumps(answer, indent=1))
    else:
        table = table_of(f"{len(rows)} of {data_counts['pairs']:,} pairs", COLUMNS, len(COLUMNS))
        for row in rows:
            cells = row | {"class_id": _name_class(row["class_id"], pairs.class_names)}
            table.add_row(*(Text(str(value)) for value in cells.values()))
        console.print(table)
        for line in lines:
            say(console, line)
    if html is not None:
        written = write_data_sheet(html, study.study, lines, shown)
        if not is_json:
            say(console, f"sheet: {written}")
    if problem is not None:
        raise problem


def _name_class(class_id: int, class_names: Sequence[str]) -> str:
    """Number of a class, and its name if it is known."""
    is_known = class_id < len(class_names) and class_names[class_id] != str(class_id)
    return f"{class_id} {class_names[class_id]}" if is_known else str(class_id)


def _summary(study: str, data_counts: dict[str, Any], class_names: Sequence[str]) -> list[str]:
    """Counts in sentences."""
    lines = [
        f"study {study}: {number_of(data_counts['pairs'], 'pair')} of "
        f"{number_of(data_counts['sources'], 'source')}, "
        f"{number_of(data_counts['inputs'], 'input')} "
        f"({data_counts['contents']:,} distinct, {data_counts['shared']:,} used by several pairs)"
    ]
    if data_counts["shapes"] > 1:
        lines.append(f"shapes of inputs: {data_counts['shapes']:,}")
    if data_counts["weight"] != data_counts["pairs"]:
        lines.append(f"weights of the pairs: {data_counts['weight']:,.6g} in all")
    for name in ("pair_types", "splits", "classes", "empty_masks"):
        named_counts = data_counts[name]
        if name == "classes":
            named_counts = {
                _name_class(int(value), class_names): count for value, count in named_counts.items()
            }
        parts = [f"{value} ({count:,})" for value, count in named_counts.items()]
        if parts:
            lines.append(f"{name.replace('_', ' ')}: {abridge(parts, MOST_NAMES)}")
    return lines


def _sizes_in_words(sizes: Mapping[str, float]) -> list[str]:
    """Mean size of the change of each pair type; no line without any."""
    parts = [f"{name} {size:.3g}" for name, size in sizes.items()]
    return [f"mean size of a change: {abridge(parts, MOST_NAMES)}"] if parts else []
