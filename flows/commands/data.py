"""What ``decaf data`` prints and writes: a look at the pairs before anything is scored."""

import json
from functools import partial
from pathlib import Path
from typing import Any

from rich.console import Console
from rich.text import Text

from decaf.data.empty_masks import check_features_show, read_words
from decaf.data.model_inputs import model_inputs
from decaf.data.overview import counts, described, some_pairs
from decaf.errors import BadInput, listed, number_of
from decaf.foundation.readiness import carry_out
from decaf.plan.study import load_study
from flows.commands.display import table_of
from flows.commands.terminal import say
from tasks.progress import telling
from warehouse.report.data_sheet import write_data_sheet

COLUMNS = ("pair", "type", "source", "split", "class", "factual", "counterfactual", "size")
MOST_NAMES = 12
"""Classes, splits or types that a line names."""


def show_data(console: Console, config: Path, html: Path | None, *, is_json: bool) -> None:
    """Check the pairs of a study as a run would; print counts and ten pairs, and write a sheet."""
    study = load_study(config)
    with telling(f"reading the pairs of study {study.study}"):
        pairs = study.pair_set()
        study.data.verify(pairs)
        words = read_words(pairs, study.data.read_mask)
        found = counts(pairs, words)
        remarks = [*pairs.remarks, *check_features_show(pairs, words)]
    shown = some_pairs(pairs, study.data.read_input, study.data.read_mask)
    rows = [described(one) for one in shown]
    checks = [(card.id, partial(card.check_columns, pairs.columns)) for card in study.models]
    try:
        remarks, problem = [*remarks, *carry_out(checks)], None
    except BadInput as error:  # raised once the pairs are shown
        problem = error
    taken = model_inputs(pairs, shown)
    sentence = [taken.sentence(has_channels=hasattr(study.data, "channels"))] if taken else []
    lines = [*_summary(study.study, found), *sentence, *remarks]
    if is_json:
        answer = {
            "study": study.study,
            **found,
            **({"model_inputs": taken.as_json()} if taken else {}),
        }
        answer |= {"remarks": remarks, "examples": rows}
        say(console, json.dumps(answer, indent=1))
    else:
        table = table_of(f"{len(rows)} of {found['pairs']:,} pairs", COLUMNS, len(COLUMNS))
        for row in rows:
            table.add_row(*(Text(str(value)) for value in row.values()))
        console.print(table)
        for line in lines:
            say(console, line)
    if html is not None:
        written = write_data_sheet(html, study.study, lines, shown)
        if not is_json:
            say(console, f"sheet: {written}")
    if problem is not None:
        raise problem


def _summary(study: str, found: dict[str, Any]) -> list[str]:
    """Counts in sentences."""
    lines = [
        f"study {study}: {number_of(found['pairs'], 'pair')} of "
        f"{number_of(found['sources'], 'source')}, {number_of(found['inputs'], 'input')} "
        f"({found['contents']:,} different, {found['shared']:,} of several pairs)"
    ]
    if found["shapes"] > 1:
        lines.append(f"shapes of inputs: {found['shapes']:,}")
    if found["weight"] != found["pairs"]:
        lines.append(f"weights of the pairs: {found['weight']:,.6g} in all")
    for name in ("pair_types", "splits", "classes", "empty_masks"):
        parts = [f"{value} ({count:,})" for value, count in found[name].items()]
        if parts:
            lines.append(f"{name.replace('_', ' ')}: {listed(parts, MOST_NAMES)}")
    return lines
