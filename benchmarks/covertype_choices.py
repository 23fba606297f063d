"""Which readings of the paper's Covertype tables its own cells support, from a finished study.

    python benchmarks/covertype_choices.py WAREHOUSE STUDY

The paper leaves some definitions open. Every reading is made of what the warehouse stores, no model
is asked again; its rank correlations stand beside the paper's, with the mean distance from them. Of
each method, and of the bootstrap, the first reading is the one of the views.
"""

import sys
from collections.abc import Iterator
from typing import NamedTuple

import duckdb
import numpy as np
from numpy.typing import NDArray
from scipy.stats import spearmanr

from decaf.statistics.draws import draw_clusters
from warehouse.query.catalog import connect
from warehouse.storage import resolved

BEHAVIOURS = {"preservation": "preserve_rate", "inversion": "invert_rate"}
NULL_CHANGE = "null_change"
REPLICATES, SEED = 500, 7601


class Reading(NamedTuple):
    """One reading of a method: its score of every model, NaN where there is none."""

    method: str
    text: str
    score: NDArray[np.float64]


class Models(NamedTuple):
    """Columns of ``core_covertype_outcomes``, and components of baselines by name."""

    outcomes: dict[str, NDArray]
    components: dict[str, NDArray[np.float64]]

    @property
    def is_fragility(self) -> NDArray[np.bool_]:
        """Which models are of the fragility module."""
        return self.outcomes["module"] == "fragility"


def read_models(connection: duckdb.DuckDBPyConnection, study: str) -> Models:
    """Read one row per model, in the order of the models' names."""
    asked = {"study": study}
    query = "FROM core_covertype_outcomes WHERE study = $study ORDER BY model_id"
    outcomes = connection.sql(query, params=asked).to_arrow_table()
    columns = {name: np.array(outcomes[name].to_pylist()) for name in outcomes.column_names}
    place = {name: number for number, name in enumerate(columns["model_id"])}
    components: dict[str, NDArray[np.float64]] = {}
    scored = connection.sql(
        "SELECT method || '.' || component, model_id, score FROM core_baselines "
        "WHERE study = $study AND score IS NOT NULL",
        params=asked,
    ).fetchall()
    for name, model, score in scored:
        components.setdefault(name, np.full(len(place), np.nan))[place[model]] = score
    return Models(columns, components)


def readings(models: Models) -> Iterator[Reading]:
    """Yield every reading."""
    of = {name: column for name, column in models.outcomes.items()}
    flips = of["sign_flip_rate"].astype(float)
    yield Reading("SignFlip", "share of active rows, missing without any", flips)
    of_all = np.nan_to_num(flips) * of["active_frac"].astype(float)
    yield Reading("SignFlip", "share of all rows", of_all)
    yield Reading("OppMass", "whether or not the gate is open", of["opposed_mass"].astype(float))
    yield Reading("OppMass", "where the gate is open", of["contradiction"].astype(float))
    minus, plus = (models.components[f"context_permutation.context_{c}"] for c in ("minus", "plus"))
    yield Reading("context_permutation", "absolute difference", np.abs(plus - minus))
    yield Reading("context_permutation", "context -1", minus)
    yield Reading("context_permutation", "context +1", plus)
    yield Reading("context_permutation", "the larger one", np.maximum(minus, plus))
    yield Reading("context_permutation", "mean of both", (minus + plus) / 2)
    yield Reading("context_permutation", "context +1 less context -1", plus - minus)
    pdp, ale = (np.abs(models.components[f"pdp_ale.{name}"]) for name in ("pdp", "ale"))
    yield Reading("pdp_ale", "mean of both absolute values", (pdp + ale) / 2)
    yield Reading("pdp_ale", "PDP alone", pdp)
    yield Reading("pdp_ale", "ALE alone", ale)


def correlations(models: Models, score: NDArray[np.float64]) -> dict[str, tuple[float, int]]:
    """Spearman and number of models, by behaviour."""
    found = {}
    for behaviour, column in (BEHAVIOURS | {NULL_CHANGE: "null_change_rate"}).items():
        rate = models.outcomes[column].astype(float)
        of_module = models.is_fragility == (behaviour == NULL_CHANGE)
        chosen = of_module & ~np.isnan(score) & ~np.isnan(rate)
        found[behaviour] = (float(spearmanr(score[chosen], rate[chosen])[0]), int(chosen.sum()))
    return found


def limits_of(models: Models, behaviour: str, part: str) -> Iterator[tuple[float, float]]:
    """Yield the 95 % limits of every reading of the bootstrap, the one of the views first."""
    rates = BEHAVIOURS | {NULL_CHANGE: "null_change_rate"}
    score, rate = (models.outcomes[name].astype(float) for name in (part, rates[behaviour]))
    chosen = (models.is_fragility == (behaviour == NULL_CHANGE)) & ~np.isnan(rate)
    score, rate, family = score[chosen], rate[chosen], models.outcomes["family"][chosen]
    pairs = zip(family, models.outcomes["seed"][chosen], strict=True)
    joint = np.array([f"{name} {seed}" for name, seed in pairs])
    for clusters, draws in (
        (joint, draw_clusters(len(set(joint)), REPLICATES, SEED)),
        (joint, draw_nested(family, joint)),
        (np.arange(len(score)), draw_clusters(len(score), REPLICATES, SEED)),
    ):
        members = [np.flatnonzero(clusters == name) for name in np.unique(clusters)]
        replicates = []
        for draw in draws:
            rows = np.concatenate([members[place] for place in draw])
            replicates.append(spearmanr(score[rows], rate[rows])[0])
        low, high = np.nanquantile(replicates, [0.025, 0.975])
        yield float(low), float(high)


def draw_nested(family: NDArray, joint: NDArray) -> NDArray[np.int64]:
    """Draw families and, inside each drawn one, its seeds; families hold equally many."""
    names, first = np.unique(joint, return_index=True)
    places = np.stack([np.flatnonzero(family[first] == name) for name in np.unique(family)])
    generator = np.random.default_rng(SEED)
    drawn = generator.integers(0, len(places), size=(REPLICATES, len(places)))
    inside = generator.integers(0, places.shape[1], size=(REPLICATES, *places.shape))
    return places[drawn[:, :, np.newaxis], inside].reshape(REPLICATES, names.size)


def report(connection: duckdb.DuckDBPyConnection, study: str) -> Iterator[str]:
    """Yield the lines of two tables of Markdown."""
    models = read_models(connection, study)
    rows = connection.sql(
        "SELECT behaviour, method, published, published_count, "
        "published_lower_95, published_upper_95 FROM paper_covertype_ranks WHERE study = $study",
        params={"study": study},
    ).fetchall()
    paper = {(behaviour, method): row for behaviour, method, *row in rows}
    yield "| method | reading | preservation | inversion | null change | models | mean distance |"
    yield "| --- | --- | --: | --: | --: | --- | --: |"
    for method, text, score in readings(models):
        found = correlations(models, score)
        published = {behaviour: paper[behaviour, method] for behaviour in found}
        cells = [f"{found[name][0]:.3f} ({published[name][0]:.3f})" for name in found]
        counts = [
            f"{found[name][1]} ({published[name][1]})" for name in found if name != "inversion"
        ]
        distance = np.mean([abs(found[name][0] - published[name][0]) for name in found])
        yield f"| {method} | {text} | {' | '.join(cells)} | {', '.join(counts)} | {distance:.3f} |"
    yield ""
    yield "| DECAF's 95 % interval | family and seed | families, then seeds | models | paper |"
    yield "| --- | --- | --- | --- | --- |"
    parts = zip((*BEHAVIOURS, NULL_CHANGE), ("evidence", "contradiction", "fragility"), strict=True)
    for behaviour, part in parts:
        limits = [*limits_of(models, behaviour, part), tuple(paper[behaviour, "DECAF"][-2:])]
        yield f"| {behaviour} | {' | '.join(f'[{low:.3f}, {high:.3f}]' for low, high in limits)} |"


if __name__ == "__main__":
    if len(sys.argv) != 3:
        raise SystemExit(__doc__)
    with connect(resolved(sys.argv[1])) as opened:
        print("\n".join(report(opened, sys.argv[2])))
