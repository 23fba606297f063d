"""Pairs of the most evidence: the view looks at the largest values alone, a sort at all of them."""

import random

from view_tables import define_over

RUN = {"study": "s", "run_id": "r", "score": '{"kind": "class_probability"}', "epsilon": "0.5"}
OF_RUN = {"study": "s", "run_id": "r", "pair_type": "rand", "path": "blend"}
COMPONENTS = ("evidence", "contradiction", "fragility")
PAIRS_OF_SOURCES = {
    "many sources": [5] * 60,
    "one source has most": [100, 3, 3, 3],
    "two have": [100, 90, 2],
    "three have": [70, 70, 70, 1],
    "one alone": [80],
    "few": [1, 1],
}
LEVELS = {"ties": 8, "no ties": 10**6}


def profiles(model, pairs_of_sources, levels):
    """Two repetitions of each pair; the more pairs a source has, the larger are its values."""
    draw = random.Random(model)
    rows = []
    for number, pairs in enumerate(pairs_of_sources):
        scale = 0.3 + 0.7 * pairs / max(pairs_of_sources)
        for pair in range(pairs):
            named = {"source_id": f"{number:02}", "pair_id": f"{number:02}-{pair:03}"}
            for repetition in range(2):
                values = {name: scale * draw.randrange(levels) / levels for name in COMPONENTS}
                more = {"model_id": model, "repetition": repetition, "endpoint_delta": 0}
                rows.append(OF_RUN | named | values | more | {"abs_response": sum(values.values())})
    return rows


def strongest(rows, component):
    """Three sources by their strongest pairs, ties by pair and repetition."""
    counted = [row for row in rows if row[component] >= 0.01]
    counted.sort(key=lambda row: (-row[component], row["pair_id"], row["repetition"]))
    first = {}
    for row in counted:
        first.setdefault(row["source_id"], row)
    return [
        (row["model_id"], component, rank, row["pair_id"], row["repetition"], row[component])
        for rank, row in enumerate([*first.values()][:3], 1)
    ]


def test_the_three_strongest_sources_of_every_model(columns, open_schema):
    of_model = {
        f"{name}, {kind}": profiles(f"{name}, {kind}", pairs, levels)
        for name, pairs in PAIRS_OF_SOURCES.items()
        for kind, levels in LEVELS.items()
    }
    texts = [
        {column: str(value) for column, value in row.items()}
        for rows in of_model.values()
        for row in rows
    ]
    with open_schema() as connection:
        given = {"core_profiles": texts, "stg_runs": [RUN]}
        define_over(connection, "out_top_pairs", columns, given)
        found = connection.sql(
            "SELECT model_id, component, rank, pair_id, repetition, value FROM out_top_pairs"
        ).fetchall()
    expected = [
        row
        for rows in of_model.values()
        for component in COMPONENTS
        for row in strongest(rows, component)
    ]
    assert sorted(found) == sorted(expected)
