"""The bar of a response, with the same marks in reports, in ``decaf view`` and in notebooks."""

from collections.abc import Mapping, Sequence
from html import escape
from pathlib import Path

from decaf.foundation.number_text import score_text
from decaf.library.palette import ROLES

LETTER_STYLE, STYLE = (
    (Path(__file__).parent / name).read_text(encoding="utf-8") for name in ("letter.css", "bar.css")
)
"""Style of bars, and of the letters of roles below them, by the colours of the palette."""


def draw_bar(
    values: Mapping[str, float],
    abs_response: float,
    scale: float,
    interval: tuple[float, float] | None = None,
    magnitude: float | None = None,
    limit: float | None = None,
    path: str = "",
    other_paths: Sequence[tuple[str, float]] = (),
) -> str:
    """Bar of E, C and F with its numbers below it, as HTML; every text is escaped.

    Parameters
    ----------
    values
        Means by role, score units; a missing role counts as 0.
    abs_response
        Abs, score units.
    scale
        Response at the end of the bar, score units. Marks beyond it are at the end.
    interval
        Limits of Abs, the whisker; None without an interval.
    magnitude
        M, the diamond; None if it is not known.
    limit
        Largest safe, or smallest wanted, response: a dashed line if it is on the scale.
    path
        Name of the path; empty if there is one path.
    other_paths
        Other paths with their Abs, as rings.
    """

    def at(value: float) -> str:
        return f"{min(100 * value / scale, 100):.2f}%"

    marks = [f'<i class="{role}" style="width:{at(values.get(role, 0.0))}"></i>' for role in ROLES]
    if interval:
        lower, upper = interval
        marks.append(f'<b style="left:{at(lower)};width:{at(upper - lower)}"></b>')
    marks += [f'<u style="left:{at(response)}"></u>' for _, response in other_paths]
    numbers = [f"<b>{score_text(abs_response)}</b>"]
    if path:
        rings = "".join(
            f' <span title="{escape(name)}">○ {score_text(response)}</span>'
            for name, response in other_paths
        )
        numbers.append(f"{escape(path)}{rings}")
    if magnitude is not None:
        marks.append(f'<em style="left:{at(magnitude)}"></em>')
        numbers.append(f'<span title="endpoint magnitude">M {score_text(magnitude)}</span>')
    if limit is not None and limit <= scale:
        marks.append(f'<s style="left:{at(limit)}"></s>')
    roles = "".join(
        f'<span><b class="letter {role}" aria-hidden="true">{role[0].upper()}</b>'
        f'<span class="unseen">{role}</span> {score_text(values[role])}</span>'
        for role in ROLES
        if values.get(role)
    )
    return (
        f'<div class="track" aria-hidden="true">{"".join(marks)}</div>'
        f'<p class="said">{" ".join(numbers)}<span class="ecf">{roles}</span></p>'
    )
