"""Check the warehouse, and end the run if a check fails."""

from collections import Counter
from collections.abc import Callable, Iterable, Sequence

from decaf.errors import ChecksFailed, ScoringFailed, WarehouseError
from decaf.plan.study import Study
from decaf.plan.units import Unit
from tasks.units.scope import of_kind
from warehouse.query.catalog import connect
from warehouse.query.checks import CheckResult, run_checks
from warehouse.query.damage import Damage, describe_damage, fetch_whole, find_damage
from warehouse.storage import Storage


def verify(
    store: Storage,
    study: str | None = None,
    *,
    is_quick: bool = True,
    tell: Callable[[int, int], None] = lambda done, total: None,
) -> list[CheckResult]:
    """Run every check on one study or all studies; reads the warehouse, writes nothing.

    Files are compared with their receipts by size, and unless ``is_quick`` by digest; checks leave
    out files that differ. ``tell`` is passed to :func:`warehouse.query.damage.find_damage`.

    Raises ChecksFailed, which names the failed checks, each with its first row, and the damaged
    files.
    """
    damage = find_damage(store, study, is_quick=is_quick, tell=tell)
    try:
        results = _run_checks(store, study, damage)
    except WarehouseError:
        # DuckDB failed on a damaged file of the right size, or of another study.
        everything = find_damage(store)
        if len(everything) == len(damage):
            raise
        damage, results = everything, _run_checks(store, study, everything)
    failed = [result for result in results if result.offending_count]
    texts = []
    if failed:
        lines = [
            f"{result.name}: {result.offending_count} rows, for example {result.examples[0]}"
            for result in failed
        ]
        place = f"{study or 'all studies'} in {store.address}"
        title = f"{len(failed)} of {len(results)} checks of {place} found offending rows:"
        texts.append("\n  ".join([title, *lines]))
    if damage:
        texts.append(describe_damage(store, damage))
    if texts:
        raise ChecksFailed("\n".join(texts))
    return results


def too_many_quarantined(store: Storage, study: Study, units: Iterable[Unit]) -> dict[str, str]:
    """Messages by model for models with more quarantined trajectories than the study allows.

    A model without any finite trajectory always gets one.
    """
    sql = "SELECT unit_key, count(*) FROM stg_quarantine WHERE study = $study GROUP BY ALL"
    of_unit = dict(fetch_whole(store, study.study, sql))
    total, quarantined, limit = Counter(), Counter(), study.quarantine
    for unit in of_kind(units, "score"):
        total[unit.model_id] += unit.row_count
        quarantined[unit.model_id] += of_unit.get(unit.key, 0)
    return {
        model_id: f"{quarantined[model_id]:,} of {count:,} trajectories are quarantined, since a "
        f"score was not finite; 'quarantine:' allows a share of {limit:g}: inspect the model's "
        "outputs for their inputs, or allow more"
        for model_id, count in total.items()
        if quarantined[model_id] == count or quarantined[model_id] > limit * count
    }


def refuse_quarantined(store: Storage, study: Study, units: Iterable[Unit]) -> None:
    """Raise ScoringFailed, which names the models, if too many trajectories are quarantined."""
    if problems := too_many_quarantined(store, study, units):
        lines = (f"{model_id}: {problem}" for model_id, problem in problems.items())
        raise ScoringFailed("\n".join(lines))


def _run_checks(store: Storage, study: str | None, damage: Sequence[Damage]) -> list[CheckResult]:
    with connect(store, without={damaged.key for damaged in damage}) as connection:
        return run_checks(connection, study)
