"""Gates: limits on a changed model, and the verdicts that they give."""

from collections.abc import Collection, Iterable, Mapping, Sequence
from itertools import product
from typing import Annotated, Any, Literal, NamedTuple

from pydantic import BeforeValidator, Field, model_validator

from decaf.errors import ConfigError, number_of, suggestion
from decaf.foundation.settings import Limit, Settings, fault
from decaf.statistics.bootstrap import FEWEST_CLUSTERS

ACCURACY = "accuracy"
IN_SCORE_UNITS = ("endpoint_magnitude", "evidence", "contradiction", "fragility", "abs_response")
METRICS = (
    *IN_SCORE_UNITS,
    "active_frac",
    "evidence_frac",
    "contradiction_frac",
    "fragility_frac",
    ACCURACY,
)
"""Columns of the drift between two versions that a gate can limit."""
Verdict = Literal["not applicable", "pass", "undecided", "fail"]
NOTHING = "it was not measured"
NOT_APPLICABLE: Verdict = "not applicable"
"""Verdict on a limit of a change without an earlier version."""
VERDICTS: tuple[Verdict, ...] = (NOT_APPLICABLE, "pass", "undecided", "fail")
"""From the best to the worst."""


class Gate(Settings):
    """Limits of one column, decided by the interval at `confidence`."""

    increase: Limit | None = Field(
        None, ge=0, description="largest increase from the version that it is compared with"
    )
    decrease: Limit | None = Field(None, ge=0, description="largest decrease from that version")
    at_most: Limit | None = Field(None, description="largest allowed value")
    at_least: Limit | None = Field(None, description="smallest allowed value")
    confidence: float = Field(
        0.95, ge=0.5, lt=1, description="level of the two-sided bootstrap interval, at least 0.5"
    )
    pair_type: str | None = Field(None, description="only pairs of this type")
    expect: Literal["should_matter", "should_not_matter"] | None = Field(
        None, description="only pairs of the types for which the study's `expect:` says this"
    )
    path: str | None = Field(None, description="only this reveal path")
    variant: str | None = Field(None, description="only clean images of this kind (accuracy)")

    @model_validator(mode="after")
    def _has_a_limit(self) -> "Gate":
        if all(getattr(self, rule) is None for rule in RULES):
            raise fault("give at least one of 'increase', 'decrease', 'at_most' and 'at_least'")
        if self.expect and self.pair_type:
            raise fault("'expect' and 'pair_type' both select pairs; give one of them", "expect")
        return self


def _as_list(given: Any) -> Any:
    if given in ([], ()):
        raise fault("expected a gate, or a list of them")
    return given if isinstance(given, list | tuple) else (given,)


Gates = Annotated[tuple[Gate, ...], BeforeValidator(_as_list)]
"""Gates of one column; a single gate needs no list."""


class DriftRow(NamedTuple):
    """One column of one entry on one pair type and path, or on one kind of clean image.

    For accuracy, ``pair_type`` and ``path`` are None; for all other columns ``variant`` is None.
    Without an earlier version there is no change; ``reason`` says why. Unknown values are None.
    """

    entry: str
    pair_type: str | None
    path: str | None
    variant: str | None
    metric: str
    level: float
    value_before: float | None
    value: float | None
    lower_limit: float | None
    upper_limit: float | None
    change: float | None
    change_lower: float | None
    change_upper: float | None
    p_value: float | None
    p_adjusted: float | None
    reason: str | None
    source_count: int | None


class Judged(NamedTuple):
    """Verdict of one rule of one gate on one row."""

    entry: str
    metric: str
    rule: str
    pair_type: str | None
    path: str | None
    variant: str | None
    limit: float
    confidence: float
    found: float | None
    lower_limit: float | None
    upper_limit: float | None
    verdict: Verdict
    reason: str | None


class _Rule(NamedTuple):
    """Meaning of a limit: on a change or a value, and its forbidden side."""

    is_change: bool
    sign: int


RULES = {
    "increase": _Rule(True, 1),
    "decrease": _Rule(True, -1),
    "at_most": _Rule(False, 1),
    "at_least": _Rule(False, -1),
}


def judge(gates: Mapping[str, Gates], rows: Iterable[DriftRow]) -> list[Judged]:
    """Judge every row by the gates of its column.

    A rule fails if the whole interval lies beyond its limit, and passes if no part of it does.
    Otherwise, or with too few sources for an interval, the rule is undecided. A gate is also
    undecided for an entry on which nothing was measured. Equal verdicts of several gates are listed
    once. Without an earlier value, a limit on a change is not applicable.

    Examples
    --------
    >>> row = DriftRow("net", "wall", "blend", None, "contradiction", 0.95, 0.1, 0.2, 0.15, 0.25,
    ...             0.1, 0.05, 0.15, 0.001, 0.01, None, 20)
    >>> [judge({"contradiction": (Gate(increase=x),)}, [row])[0].verdict for x in (0.02, 0.1, 0.2)]
    ['fail', 'undecided', 'pass']
    """
    by_entry: dict[str, list[DriftRow]] = {}
    for row in rows:
        by_entry.setdefault(row.entry, []).append(row)
    judged = (
        _judge_row(row, gate, name)
        for entry, entry_rows in by_entry.items()
        for metric, own_gates in gates.items()
        for gate in own_gates
        for row in _rows_of_gate(entry, metric, gate, entry_rows)
        for name in RULES
        if getattr(gate, name) is not None
    )
    return list(dict.fromkeys(judged))


def judge_rule(name: str, limit: float, lower: float, upper: float) -> Verdict:
    """Verdict of a rule: fail if the whole interval is beyond the limit, pass if no part of it is.

    ``increase`` and ``decrease`` take the size of a change, without a sign.
    """
    rule = RULES[name]
    allowed = limit if rule.is_change else rule.sign * limit
    near, far = sorted((rule.sign * lower, rule.sign * upper))
    return "fail" if near > allowed else "pass" if far <= allowed else "undecided"


def limits_changes(gates: Mapping[str, Gates]) -> bool:
    """True if a gate limits a change between two versions."""
    changes = [name for name, rule in RULES.items() if rule.is_change]
    every = (gate for own_gates in gates.values() for gate in own_gates)
    return any(getattr(gate, name) is not None for gate in every for name in changes)


def on_pair_types(gates: Mapping[str, Gates], expect: Mapping[str, str]) -> dict[str, Gates]:
    """Replace ``expect`` of each gate by the pair types that the study expects so.

    ``expect`` maps pair types to what the study expects. Raises ConfigError, naming the gate, if no
    pair type has the gate's ``expect``.
    """
    meant: dict[str, Gates] = {}
    for metric, own_gates in gates.items():
        meant[metric] = ()
        for gate in own_gates:
            types = [name for name, expected_role in expect.items() if expected_role == gate.expect]
            if gate.expect and not types:
                raise ConfigError(
                    f"'gates.{metric}.expect': no pair type is {gate.expect}; add one, as in "
                    f"'expect: {{wall_hue: {gate.expect}}}'"
                )
            named = (gate.model_copy(update={"pair_type": name, "expect": None}) for name in types)
            meant[metric] += tuple(named) if gate.expect else (gate,)
    return meant


def check_places(
    gates: Mapping[str, Gates], *, has_labels: bool = True, **known: Collection[str]
) -> None:
    """Check that pair types, paths and variants of gates exist: ``pair_type=…, path=…``.

    Raises ConfigError, naming the gate and the most similar name, also for a gate on accuracy if
    inputs have no labels.
    """
    if ACCURACY in gates and not has_labels:
        raise ConfigError(
            "'gates.accuracy': the data have no labels, so there is no accuracy; name their labels "
            "in 'data:', or leave this gate out"
        )
    for metric, own_gates in gates.items():
        for gate, (key, names) in product(own_gates, known.items()):
            place = getattr(gate, key)
            if place is not None and place not in names:
                raise ConfigError(
                    f"'gates.{metric}.{key}': there is no {place!r}{suggestion(place, names)}"
                )


def _rows_of_gate(entry: str, metric: str, gate: Gate, rows: Sequence[DriftRow]) -> list[DriftRow]:
    """Rows that a gate limits; an empty row if nothing was measured for it."""
    place = (gate.pair_type, gate.path, gate.variant)
    concerned = [
        row
        for row in rows
        if (row.metric, row.level) == (metric, gate.confidence)
        and all(
            gate_place in (None, of)
            for gate_place, of in zip(place, (row.pair_type, row.path, row.variant), strict=True)
        )
    ]
    return concerned or [
        DriftRow._make([entry, *place, metric, gate.confidence, *[None] * 9, NOTHING, None])
    ]


def _judge_row(row: DriftRow, gate: Gate, name: str) -> Judged:
    rule, limit = RULES[name], getattr(gate, name)
    if rule.is_change:
        value, lower, upper = row.change, row.change_lower, row.change_upper
    else:
        value, lower, upper = row.value, row.lower_limit, row.upper_limit
    verdict: Verdict = "undecided"
    if reason := _explain_no_interval(row, lower, is_change=rule.is_change):
        lower = upper = None
    if rule.is_change and row.value_before is None and row.reason != NOTHING:
        verdict, reason = NOT_APPLICABLE, row.reason or "no earlier value"
    elif lower is not None and upper is not None:
        verdict = judge_rule(name, limit, lower, upper)
    place = (row.entry, row.metric, name, row.pair_type, row.path, row.variant)
    return Judged(*place, limit, gate.confidence, value, lower, upper, verdict, reason)


def _explain_no_interval(row: DriftRow, lower: float | None, *, is_change: bool) -> str | None:
    """Explain why a row has no interval from ``lower`` that can decide a limit; None if it has."""
    if row.source_count is not None and row.source_count < FEWEST_CLUSTERS:
        return f"{number_of(row.source_count, 'source')}; an interval needs {FEWEST_CLUSTERS}"
    if lower is not None:
        return None
    return (row.reason if is_change or row.reason == NOTHING else None) or "it has no interval"
