"""Audits of several reveal paths, and their results, by the names of the paths."""

from dataclasses import replace
from html import escape
from typing import TypeVar

from decaf.errors import DataError
from decaf.foundation.tabular import Columns, Tabular, stack_columns
from decaf.library.audits import Audit, PairProfiles
from decaf.library.summary import Summary
from decaf.library.trust import NO_RESPONSE, Trust
from decaf.statistics.draws import DEFAULT_REPLICATES, DEFAULT_SEED

Part = TypeVar("Part", bound=Tabular)
Responses = dict[str, tuple[float, str]]
"""Mean Abs, score units, and main role of each path."""


class ByPath(dict[str, Part], Tabular):
    """Results of several paths, by their names; their tables are stacked below each other."""

    def to_columns(self) -> Columns:
        """The tables of all paths, whose column ``path`` tells them apart."""
        return stack_columns(self.values())

    def __str__(self) -> str:
        """Return the text of every path below its name."""
        return "\n\n".join(f"{name}\n{part}" for name, part in self.items())

    def _repr_html_(self) -> str:
        parts = (f"<h4>{escape(name)}</h4>{part._repr_html_()}" for name, part in self.items())
        return "".join(parts)


class TrustByPath(ByPath[Trust]):
    """Checks of several paths by name, and whether the paths agree."""

    @property
    def largest(self) -> str:
        """Name of the path with the largest mean Abs, the first of equal ones."""
        return max(self, key=lambda name: self[name].abs_response)

    @property
    def paths_agree(self) -> bool | None:
        """True if all paths have one main role and similar Abs: at least half of the largest.

        Abs is not compared if the role is ``no response``. The result is None for one
        path.
        """
        return None if len(self) == 1 else not _disagreements(self._responses)

    @property
    def _responses(self) -> Responses:
        return {name: (trust.abs_response, trust.roles[1]) for name, trust in self.items()}

    def __str__(self) -> str:
        """Return the checks of every path below its name, then whether the paths agree."""
        if self.paths_agree is None:
            return super().__str__()
        names = [self.largest, *(name for name in self if name != self.largest)]
        words = ", ".join(_words(name, self._responses) for name in names)
        verb = "agree" if self.paths_agree else "disagree"
        return f"{super().__str__()}\n\nThe paths {verb}: {words}."


def _disagreements(responses: Responses) -> dict[str, str]:
    """Sentence on each path that disagrees with the path with the largest Abs.

    >>> _disagreements({"blend": (0.03, "fragility"), "patch": (0.107, "evidence")})
    {'blend': 'The paths disagree: 0.11 (evidence) on patch, 0.03 (fragility) on blend.'}
    """
    largest = max(responses, key=lambda name: responses[name][0])
    largest_response, largest_role = responses[largest]
    return {
        name: f"The paths disagree: {_words(largest, responses)}, {_words(name, responses)}."
        for name, (response, role) in responses.items()
        if role != largest_role or (role != NO_RESPONSE and 2 * response < largest_response)
    }


def _words(name: str, responses: Responses) -> str:
    return f"{responses[name][0]:.2g} ({responses[name][1]}) on {name}"


class Audits(ByPath[Audit]):
    """Audits of several paths by name."""

    def _repr_html_(self) -> str:
        return self.summary()._repr_html_()

    @property
    def profiles(self) -> ByPath[PairProfiles]:
        """Profiles of every path."""
        return ByPath({name: audited.profiles for name, audited in self.items()})

    def summary(
        self, replicates: int = DEFAULT_REPLICATES, seed: int = DEFAULT_SEED
    ) -> ByPath[Summary]:
        """Summary of every path, with the same draws and scale.

        A path that disagrees with the path with the largest response has a doubt about it.
        """
        summaries = {name: audit.summary(replicates, seed) for name, audit in self.items()}
        scale = max(summary.scale for summary in summaries.values())
        responses = {
            name: (summary.abs_response.estimate, summary.role)
            for name, summary in summaries.items()
            if summary.quarantined_count < summary.pair_count
        }
        remarks = _disagreements(responses) if responses else {}

        def complete(name: str, summary: Summary) -> Summary:
            on_paths = (remarks[name],) if name in remarks else ()
            return replace(summary, scale=scale, doubts=(*summary.doubts, *on_paths))

        return ByPath({name: complete(name, summary) for name, summary in summaries.items()})

    def trust(
        self,
        replicates: int = DEFAULT_REPLICATES,
        seed: int = DEFAULT_SEED,
        *,
        control: "Audits | None" = None,
    ) -> TrustByPath:
        """Check what could change the means of every path, and whether the paths agree.

        ``control`` has the audits of another change by the same names, as in :meth:`Audit.trust`.
        Raises DataError when it has other paths or no cluster in common.
        """
        if control is not None and {*control} != {*self}:
            raise DataError(f"the control has the paths {[*control]}; expected {[*self]}")
        controls = dict.fromkeys(self) if control is None else control
        return TrustByPath(
            {
                name: audit.trust(replicates, seed, control=controls[name])
                for name, audit in self.items()
            }
        )
