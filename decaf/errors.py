"""All errors that decaf shows to users.

::

    DecafError                  exit code 3: something broke
    ├── BadInput                exit code 2: an input or a setting cannot be used
    │   ├── ConfigError         a configuration file (file, line, key)
    │   ├── UnknownName         an unknown name, with the nearest known ones
    │   │   └── UnknownEntry    an entry that a registry does not list, or an alias not followed
    │   ├── DataError           a data set, an image, a pair
    │   │   └── SettingError    a setting that the data do not fit, and the keys that lead to it
    │   ├── ModelError          a checkpoint, an architecture, a model card
    │   │   └── UnstableScore   a score that depends on its batch, or on chance
    │   ├── ResponseError       an argument of decaf.audit or of its routing and statistics
    │   ├── MissingPackage      a package that some extra of decaf brings, or a plug-in needs
    │   ├── RegistryError       a registry that cannot be reached, or lists forbidden entries
    │   ├── ScheduleError       a schedule that cannot be made, or run now
    │   ├── ServerUnreachable   Prefect's server of the schedules does not answer, or refuses
    │   ├── QueryError          SQL that does not run
    │   ├── WarehouseError      a warehouse that cannot be opened, read or written
    │   │   └── OutOfReach      its folder or object store does not answer, or refuses
    │   │       └── StoreAway   the object store does not answer, and may later
    │   └── AlreadyRunning      another run holds the study
    ├── ChecksFailed            exit code 1: a check or a plan found faults
    ├── GatesFailed             exit code 1: a failed gate stands, or an entry failed
    ├── GatesUndecided          exit code 4: the gates neither passed nor failed
    ├── AlertFailed             an alert did not reach its receiver
    ├── OrchestrationLost       the Prefect server or the Dask scheduler is gone
    ├── ModelsFailed            some models of a study failed; all other models are audited
    ├── ScoringFailed           work that could not be done
    │   └── WorkerEnded         work that ends the process that does it
    └── WriteFailed             a file or a commit could not be written
        └── DiskRefuses         no file can be written: no room, or no right to write

A message says in this order: found, expected, where, remedy. All errors take one string, or
several, so that they can be pickled by a worker process.
"""

import difflib
from collections.abc import Iterable, Mapping, Sequence
from types import MappingProxyType


class DecafError(Exception):
    """Root of the tree; the command line returns ``exit_code``."""

    exit_code = 3
    by_task: Mapping[str, "DecafError"] = MappingProxyType({})
    """Errors by the names of their tasks, if this error stands for those of several tasks."""


class BadInput(DecafError):
    """An input or a setting cannot be used."""

    exit_code = 2


class ConfigError(BadInput):
    """A configuration file is wrong."""


class UnknownName(BadInput):
    """An unknown name."""

    @classmethod
    def among(cls, kind: str, name: str, known: Iterable[str]) -> "UnknownName":
        """Build the error for ``name``, with the nearest of the ``known`` names."""
        return cls(f"unknown {kind} {name!r}{suggestion(name, known)}")


class UnknownEntry(UnknownName):
    """An entry that a registry does not list or follow, and that no re-audit has recorded."""


class DataError(BadInput):
    """A data set, an image or a pair cannot be used."""


class SettingError(DataError):
    """A setting and the data do not fit each other; ``keys`` lead to the setting in its section."""

    def __init__(self, message: str, *keys: str) -> None:
        super().__init__(message, *keys)
        self.keys = keys

    def __str__(self) -> str:
        return str(self.args[0])


class ModelError(BadInput):
    """A checkpoint, an architecture or a model card cannot be used."""


class UnstableScore(ModelError):
    """One input has two scores: the score depends on the batch, or on chance."""


class ResponseError(BadInput):
    """An argument of decaf.audit, or of its routing and statistics, cannot be used."""


class MissingPackage(BadInput):
    """A package that is needed is not installed."""


class RegistryError(BadInput):
    """A registry of models that cannot be reached, refuses, or lists forbidden entries."""


class ScheduleError(BadInput):
    """A schedule that cannot be made, or cannot be run now."""


class ServerUnreachable(BadInput):
    """The Prefect server that knows the schedules does not answer, or refuses."""


class QueryError(BadInput):
    """SQL that does not run."""


class WarehouseError(BadInput):
    """A warehouse that cannot be opened, read or written."""


class OutOfReach(WarehouseError):
    """The folder or object store of a warehouse does not answer, or refuses."""


class StoreAway(OutOfReach):
    """The object store of a warehouse does not answer, and may later."""


class AlreadyRunning(BadInput):
    """Another run holds the study."""


class ChecksFailed(DecafError):
    """A check found faults in results, plug-ins or this machine, or a plan in a re-audit."""

    exit_code = 1


class GatesFailed(DecafError):
    """A re-audit is done, and a failed gate stands, or an entry could not be audited."""

    exit_code = 1


class GatesUndecided(DecafError):
    """A re-audit is done, and a verdict is undecided or no gate applied to an entry."""

    exit_code = 4


class AlertFailed(DecafError):
    """An alert about a re-audit could not be delivered."""


class OrchestrationLost(DecafError):
    """The Prefect server or the Dask scheduler is gone; commits are safe."""


class ModelsFailed(DecafError):
    """Some models of a study failed; the results of other models are stored."""


class ScoringFailed(DecafError):
    """Work on models that could not be done, such as blocks that could not be scored."""


class WorkerEnded(ScoringFailed):
    """Work that ended the process that did it: the model crashes, or takes too long."""


class WriteFailed(DecafError):
    """A file or a commit could not be written."""


class DiskRefuses(WriteFailed):
    """The disk refused a result, and would refuse the others: it is full, or may not be written."""


LEAST_LIKENESS = 0.65
"""Least similarity of a suggested name, 0 to 1; by `difflib`, income and zipcode have 0.62."""
LEAST_START = 4
"""Fewest letters of a name that suggest a longer name which begins with them."""
MOST_KNOWN = 40
"""Names that a message lists; torchvision and timm have many more."""


def number_of(count: int, noun: str, plural: str = "") -> str:
    """Count with its noun; ``plural`` is the noun and ``s`` when absent.

    >>> number_of(1, "pair"), number_of(2_000, "pair"), number_of(1, "entry", "entries")
    ('1 pair', '2,000 pairs', '1 entry')
    """
    return f"{count:,} {noun if count == 1 else plural or f'{noun}s'}"


def abridge(words: Sequence[str], shown: int = 3) -> str:
    """Join the first words, and count the others: ``a, b, c and 2 more``."""
    more = f" and {len(words) - shown} more" if len(words) > shown else ""
    return ", ".join(words[:shown]) + more


def suggestion(name: str, names: Iterable[str]) -> str:
    """Say which known name is meant, and which there are: ``; did you mean 'blend'? known: …``.

    Capitals and small letters count as the same. A name that begins with ``name`` comes first.
    """
    names = sorted(names)
    spelt = {word.casefold(): word for word in names}
    folded = name.casefold()
    near = [word for word in spelt if len(folded) >= LEAST_START and word.startswith(folded)]
    near += difflib.get_close_matches(folded, spelt, n=1, cutoff=LEAST_LIKENESS)
    meant = f"; did you mean {spelt[near[0]]!r}?" if near else ""
    return f"{meant}; known: {abridge(names, MOST_KNOWN) or 'none'}"
