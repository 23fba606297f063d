"""Run the checks of the warehouse and stop the run when one finds anything."""

from collections.abc import Callable, Sequence

from decaf.errors import ChecksFailed, WarehouseError
from warehouse.query.catalog import connect
from warehouse.query.checks import CheckResult, run_checks
from warehouse.query.damage import Damage, described, find_damage
from warehouse.storage import Root


def verify(
    root: Root,
    study: str | None = None,
    *,
    is_quick: bool = True,
    tell: Callable[[int, int], None] = lambda done, total: None,
) -> list[CheckResult]:
    """Run every check on one study, or on all; reads the warehouse, writes nothing.

    Files are compared with their receipts by size, and by digest unless it ``is_quick``; checks go
    on without those that differ. ``tell`` is that of :func:`warehouse.query.damage.find_damage`.

    Raises ChecksFailed, naming each check that found offending rows, with the first of them, and
    the files that are not as committed.
    """
    damage = find_damage(root, study, is_quick=is_quick, tell=tell)
    try:
        results = _checked(root, study, damage)
    except WarehouseError:
        # DuckDB stumbled over a file of the right size, or of another study.
        everything = find_damage(root)
        if len(everything) == len(damage):
            raise
        damage, results = everything, _checked(root, study, everything)
    failed = [result for result in results if result.offending_count]
    texts = []
    if failed:
        lines = [
            f"{result.name}: {result.offending_count} rows, for example {result.examples[0]}"
            for result in failed
        ]
        place = f"{study or 'all studies'} in {root}"
        found = f"{len(failed)} of {len(results)} checks of {place} found offending rows:"
        texts.append("\n  ".join([found, *lines]))
    if damage:
        texts.append(described(root, damage))
    if texts:
        raise ChecksFailed("\n".join(texts))
    return results


def _checked(root: Root, study: str | None, damage: Sequence[Damage]) -> list[CheckResult]:
    with connect(root, without={one.key for one in damage}) as connection:
        return run_checks(connection, study)
