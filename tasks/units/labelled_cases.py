"""Read the labelled cases of analyses from the warehouse: sources, or whole models."""

import duckdb
import numpy as np
from numpy.typing import NDArray

from decaf.plan.study import Study

LABELS = ("evidence", "contradiction", "fragility")


def read_cases(connection: duckdb.DuckDBPyConnection, study: Study) -> dict[str, NDArray]:
    """Columns of the cases of a study by name, in the order of models and pairs.

    ``labels`` is (n_cases, 3), one column for each of :data:`LABELS`; the others are (n_cases,),
    with NaN for missing numbers. The study's labels decide whether cases are sources of pairs or
    whole models, which have empty names of pair and source.
    """
    if study.labels.case_kind == "source":
        return _sources(connection, study)
    return _models(connection, study)


def _sources(connection: duckdb.DuckDBPyConnection, study: Study) -> dict[str, NDArray]:
    """Read the labelled sources without missing results."""
    cases = _columns(
        connection,
        "SELECT * FROM query_table($cases) WHERE study = $study AND reason IS NULL "
        "ORDER BY model_id, pair_id",
        _params(study),
    )
    cases |= {method: np.empty(0) for method in study.attributions}
    attributed = connection.sql(
        "SELECT method, list(region_score ORDER BY model_id, pair_id) FROM query_table($cases) "
        "JOIN core_attributions USING (study, model_id, pair_id) "
        "WHERE study = $study AND reason IS NULL GROUP BY method",
        params=_params(study),
    ).fetchall()
    cases |= {method: np.array(scores) for method, scores in attributed}
    cases["labels"] = np.stack([cases[f"y_{label}"] for label in LABELS], axis=1).astype(bool)
    # The active flag distinguishes this 0 from the 0 of a pair whose stages all agree.
    cases["sign_flip_frac"] = np.nan_to_num(cases["sign_flip_frac"].astype(np.float64), nan=0.0)
    return cases


def _models(connection: duckdb.DuckDBPyConnection, study: Study) -> dict[str, NDArray]:
    """Models whose treatment aims at a role, with the components of baselines as features."""
    cases = _columns(
        connection,
        "SELECT *, '' AS pair_id, '' AS source_id FROM query_table($cases) "
        "WHERE study = $study AND mechanism_label IS NOT NULL ORDER BY model_id",
        _params(study),
    )
    components = _columns(
        connection,
        "SELECT model_id, method || '.' || component AS feature, score FROM core_baselines "
        "WHERE study = $study AND score IS NOT NULL",
        {"study": study.study},
    )
    place = {name: number for number, name in enumerate(cases["model_id"].tolist())}
    has_case = np.isin(components["model_id"], cases["model_id"])
    for feature in np.unique(components["feature"].astype(str)):
        chosen = has_case & (components["feature"] == feature)
        values = np.full(len(place), np.nan)
        values[[place[name] for name in components["model_id"][chosen]]] = components["score"][
            chosen
        ]
        cases[feature] = values
    cases["labels"] = np.stack([cases["mechanism_label"] == label for label in LABELS], axis=1)
    return cases


def _columns(
    connection: duckdb.DuckDBPyConnection, query: str, params: dict[str, str]
) -> dict[str, NDArray]:
    table = connection.sql(query, params=params).to_arrow_table()
    return {name: table[name].to_numpy() for name in table.column_names}


def _params(study: Study) -> dict[str, str]:
    return {"study": study.study, "cases": study.labels.cases}
