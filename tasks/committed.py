"""Committed units: which of the units of a study the warehouse holds, and where."""

from collections.abc import Sequence

from decaf.plan.units import Unit
from tasks.units.orders import UNITS, commit_key, together
from warehouse.commits import receipts
from warehouse.storage import Storage


def committed_units(store: Storage, study: str, units: Sequence[Unit]) -> dict[str, str]:
    """Commits by the keys of the units that they hold.

    A commit of exactly the units that belong together is known by its name, so that a finished
    audit of many commits is recognised from their names alone; the others are read. Raises
    WarehouseError when a receipt is damaged.
    """
    names = receipts.keys(store, UNITS, study) if units else set()
    committed: dict[str, str] = {}
    for group in together(units) if names else ():
        if (key := commit_key(group)) in names:
            names.remove(key)
            committed |= dict.fromkeys((unit.key for unit in group), key)
    if len(committed) < len(units) and names:
        wanted = {unit.key for unit in units if unit.key not in committed}
        for receipt in receipts.read_some(store, UNITS, study, names):
            for key in receipt.units:
                if key in wanted:
                    committed.setdefault(key, receipt.key)
    return committed
