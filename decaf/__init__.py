"""Evidence, contradiction and fragility in the response of a model to a controlled change.

The package is the science: routing, quadrature, reveal paths, the state planner, scorers, model
sources and data adapters. It knows nothing of Prefect, Dask, DuckDB or Parquet, and importing it
needs numpy and scipy alone.
"""

NUMERICS_VERSION = 1
"""Raised whenever a change to this package changes scores; part of every shard key."""
