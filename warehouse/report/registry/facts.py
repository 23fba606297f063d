"""What the report says of a registry: its newest re-audit, and the versions of every model."""

from datetime import datetime
from typing import NamedTuple

import duckdb

from decaf.registry.gates import VERDICTS


class RegistryEntry(NamedTuple):
    """An entry at the newest re-audit."""

    resolved_at: datetime
    entry: str
    version: str
    version_before: str | None
    state: str
    change: str
    model_id: str | None
    verdict: str | None
    problem: str | None

    query = """SELECT resolved_at AT TIME ZONE 'UTC' AS resolved_at, entry, version, version_before,
       state, change, model_id, verdict, problem
FROM out_entries
WHERE study = ?
ORDER BY entry"""


class GateRow(NamedTuple):
    """What one rule of a gate said of one row, unless it passed."""

    entry: str
    version: str
    verdict: str
    metric: str
    rule: str
    pair_type: str | None
    path: str | None
    variant: str | None
    gate_limit: float
    found: float | None
    lower_limit: float | None
    upper_limit: float | None
    level: float
    reason: str | None

    query = f"""SELECT entry, version, verdict, metric, rule, pair_type, path, variant, gate_limit,
       found, lower_limit, upper_limit, level, reason
FROM out_verdicts
WHERE study = ? AND verdict <> '{VERDICTS[0]}'"""


class Drift(NamedTuple):
    """A column of a changed entry, now and before, where its change is a discovery."""

    entry: str
    version_before: str | None
    version: str
    pair_type: str | None
    path: str | None
    variant: str | None
    metric: str
    value_before: float | None
    value: float | None
    change: float | None
    change_lower: float | None
    change_upper: float | None
    p_adjusted: float | None

    query = """SELECT entry, version_before, version, pair_type, path, variant, metric,
       value_before, value, change, change_lower, change_upper, p_adjusted
FROM out_drift
WHERE study = ? AND p_adjusted <= 0.05"""


class RoleChange(NamedTuple):
    """Pairs that went from one role to another with the version of a model."""

    entry: str
    pair_type: str
    path: str
    role_before: str
    role_now: str
    trajectory_count: int
    frac: float
    pair_ids: list[str]

    query = """SELECT entry, pair_type, path, role_before, role_now, trajectory_count, frac,
       pair_ids[:5] AS pair_ids
FROM out_role_changes
WHERE study = ?"""


class HistoryPoint(NamedTuple):
    """One of E, C and F of an entry that changed now, at one of its last versions."""

    entry: str
    resolved_at: datetime
    version: str
    change: str
    pair_type: str
    path: str
    metric: str
    value: float | None
    lower_limit: float | None
    upper_limit: float | None

    query = """WITH changed AS (
    SELECT entry FROM core_entry_versions WHERE study = ? AND is_newest AND change <> 'none'
),
points AS (
    SELECT *
    FROM core_entry_versions
    SEMI JOIN changed USING (entry)
    WHERE study = ? AND change <> 'none'
    QUALIFY row_number() OVER (PARTITION BY entry ORDER BY resolved_at DESC) <= 20
)
SELECT entry, resolved_at AT TIME ZONE 'UTC' AS resolved_at, version, change,
       pair_type, path, metric, value, lower_limit, upper_limit
FROM history_of('points')
WHERE metric IN ('evidence', 'contradiction', 'fragility')
ORDER BY entry, pair_type, path, resolved_at, metric"""


class RegistryFacts(NamedTuple):
    """All of it; nothing where the study has no registry."""

    entries: tuple[RegistryEntry, ...] = ()
    verdicts: tuple[GateRow, ...] = ()
    drift: tuple[Drift, ...] = ()
    roles: tuple[RoleChange, ...] = ()
    history: tuple[HistoryPoint, ...] = ()


PARTS = (RegistryEntry, GateRow, Drift, RoleChange, HistoryPoint)


def read_registry(connection: duckdb.DuckDBPyConnection, study: str) -> RegistryFacts:
    """Read the views of a registry; only the first where the study has none."""
    facts: list[tuple] = []
    for part in PARTS:
        if facts and not facts[0]:
            break
        rows = connection.sql(part.query, params=[study] * part.query.count("?")).fetchall()
        facts.append(tuple(part(*row) for row in rows))
    return RegistryFacts(*facts)
