"""Tables that ``decaf view`` has: their columns, and where their rows lead."""

from typing import NamedTuple

BAR = "bar"
"""Column with a bar of E, C and F."""
ROLE = "role"
MAGNITUDE = "endpoint_magnitude"
PROFILE = ("abs_response", "evidence", "contradiction", "fragility")
TRAJECTORY = ("study", "model_id", "pair_id", "path", "repetition")


class Page(NamedTuple):
    """A table: how it begins sorted, its columns, and the page that a row leads to."""

    name: str
    sort: str
    link: str
    """Column that links each row."""
    columns: tuple[str, ...]
    more: tuple[str, ...] = ()
    """Columns that are shown if the address chooses them."""
    leads_to: str = ""
    by: tuple[str, ...] = ()
    """Columns of a row that the next page is about."""
    is_read_once: bool = False
    """True if few rows take long to compute: all rows of a study are read, then filtered."""
    read_with: tuple[str, ...] = ()
    """Queries with the parameter ``study`` that are read with all rows of a study."""

    @property
    def every(self) -> tuple[str, ...]:
        """All columns, in their order."""
        return (*self.columns, *self.more)


PAGES = {
    page.name: page
    for page in (
        Page(
            "studies",
            "-started_at",
            "study",
            ("study", "started_at", "is_finished", "model_count", "pair_count", "epsilon"),
            ("run_id",),
            "models",
            ("study",),
        ),
        Page(
            "runs",
            "-started_at",
            "run_id",
            ("run_id", "study", "is_current", "started_at", "is_finished", "epsilon")
            + ("unit_count", "forward_rows"),
            ("finished_at", "quarantined_count"),
        ),
        Page(
            "entries",
            "entry",
            "entry",
            ("entry", "study", "version", "resolved_at", "change", "verdict", "version_passed")
            + ("entry_failing_since", "note"),
            leads_to="versions",
            by=("study", "entry"),
            is_read_once=True,
        ),
        Page(
            "versions",
            "-resolved_at",
            "version",
            ("version", "entry", "study", "resolved_at", "change", "verdict", "compared_with")
            + ("failed_gates", "note"),
            ("accepted_at",),
            leads_to="responses",
            by=("study", "model_id"),
            is_read_once=True,
        ),
        Page(
            "models",
            "place",
            "model_id",
            ("model_id", "study", BAR, MAGNITUDE, *PROFILE, "sentence"),
            ("pair_type", "path", "accuracy", "rule", "severity", "decision"),
            "responses",
            ("study", "model_id"),
            is_read_once=True,
            read_with=("verdict_bars",),
        ),
        Page(
            "responses",
            "-abs_response",
            "pair_type",
            ("model_id", "study", "pair_type", "path", BAR, MAGNITUDE, *PROFILE)
            + ("endpoint_delta", "pair_count"),
            ("active_frac",),
            "pairs",
            ("study", "model_id", "pair_type", "path"),
            is_read_once=True,
        ),
        Page(
            "pairs",
            "-abs_response",
            "pair_id",
            ("pair_id", "model_id", "study", "pair_type", "path", ROLE, BAR, *PROFILE)
            + ("endpoint_delta",),
            ("class_id", "source_id", "repetition"),
            "trajectory",
            TRAJECTORY,
        ),
    )
}
