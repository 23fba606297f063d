"""Names of `import decaf`."""

from decaf.errors import DecafError
from decaf.library.auditing import QuarantineWarning, audit
from decaf.library.audits import Audit
from decaf.library.by_path import Audits
from decaf.library.pair_card import PairCard
from decaf.library.remarks import DataWarning
from decaf.library.scoring import UnstableScoreWarning
from decaf.library.summary import Summary
from decaf.library.trust import Trust
from decaf.reveal.path import RevealPath
from decaf.reveal.paths.blend import Blend
from decaf.reveal.paths.context import ContextChannel
from decaf.reveal.paths.gaussian import GaussianReveal
from decaf.reveal.paths.patches import Patches
from decaf.reveal.paths.removal import Removal
from decaf.routing.integrals import integrate
from decaf.routing.profiles import Profiles, profile
from decaf.routing.route import Components, route
from decaf.routing.thresholds import sweep
from decaf.scoring.batches import BatchWarning
from decaf.statistics.bootstrap import bootstrap_mean

__all__ = [
    "Audit",
    "Audits",
    "BatchWarning",
    "Blend",
    "Components",
    "ContextChannel",
    "DataWarning",
    "DecafError",
    "GaussianReveal",
    "PairCard",
    "Patches",
    "Profiles",
    "QuarantineWarning",
    "Removal",
    "RevealPath",
    "Summary",
    "Trust",
    "UnstableScoreWarning",
    "audit",
    "bootstrap_mean",
    "integrate",
    "profile",
    "route",
    "sweep",
]
