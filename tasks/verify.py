"""Run the checks of the warehouse and stop the run when one finds anything."""

from decaf.errors import ChecksFailed
from warehouse.query.catalog import connect
from warehouse.query.checks import CheckResult, run_checks
from warehouse.storage import Root


def verify(root: Root, study: str | None = None) -> list[CheckResult]:
    """Run every check on one study, or on all; reads the warehouse, writes nothing.

    Raises ChecksFailed, naming each check that found offending rows, with the first of them.
    """
    with connect(root) as connection:
        results = run_checks(connection, study)
    failed = [result for result in results if result.offending_count]
    if failed:
        lines = [
            f"{result.name}: {result.offending_count} rows, for example {result.examples[0]}"
            for result in failed
        ]
        place = f"{study or 'all studies'} in {root}"
        raise ChecksFailed(
            f"{len(failed)} of {len(results)} checks of {place} found offending rows:\n  "
            + "\n  ".join(lines)
        )
    return results
