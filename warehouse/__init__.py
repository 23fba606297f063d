"""Committed results in a folder or an object store: tables, commits, SQL views and the report.

``from warehouse import connect`` opens a warehouse as a DuckDB connection with all its views::

    from warehouse import connect

    with connect("runs/warehouse") as connection:
        frame = connection.sql("FROM out_model_profiles").df()
"""

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from warehouse.query.catalog import connect

__all__ = ["connect"]


def __getattr__(name: str) -> Any:
    # The workers of an audit import this package too, and never open DuckDB.
    if name == "connect":
        from warehouse.query.catalog import connect

        return connect
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
