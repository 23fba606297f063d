"""Evidence, contradiction and fragility in the response of a model to a controlled change.

The package is the science: routing, quadrature, reveal paths, the state planner, scorers, model
sources and data adapters. It knows nothing of Prefect, Dask, DuckDB or Parquet, and importing it
needs numpy and scipy alone.

:func:`audit` is the whole of it in one call.
"""

from decaf.auditing import QuarantineWarning, audit
from decaf.bootstrap import bootstrap_mean
from decaf.errors import DecafError
from decaf.findings import Audit, Summary
from decaf.profiles import Profiles, profile
from decaf.reveal.blend import Blend
from decaf.reveal.context import ContextChannel
from decaf.reveal.gaussian import GaussianReveal
from decaf.reveal.patches import Patches
from decaf.reveal.path import RevealPath
from decaf.reveal.removal import Removal
from decaf.routing import Components, route

__all__ = [
    "NUMERICS_VERSION",
    "Audit",
    "Blend",
    "Components",
    "ContextChannel",
    "DecafError",
    "GaussianReveal",
    "Patches",
    "Profiles",
    "QuarantineWarning",
    "Removal",
    "RevealPath",
    "Summary",
    "audit",
    "bootstrap_mean",
    "profile",
    "route",
]

NUMERICS_VERSION = 1
"""Raised whenever a change to this package changes scores; part of every shard key."""
