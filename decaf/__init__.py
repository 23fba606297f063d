"""Evidence, contradiction and fragility in the response of a model to a controlled change.

The package is the science: routing, quadrature, reveal paths, the state planner, scorers, model
sources and data adapters. It knows nothing of Prefect, Dask, DuckDB or Parquet, and importing it
needs only numpy and scipy.

:func:`audit` is the whole of it in one call.
"""

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from decaf.library.public import *  # noqa: F403

__version__ = "0.1.0"


def __getattr__(name: str) -> Any:
    """A public name, at its first use: every command imports decaf, and most need none of them."""
    from decaf.library import public

    if name == "__all__" or name in public.__all__:
        return globals().setdefault(name, getattr(public, name))
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted({*globals(), *__getattr__("__all__")})
