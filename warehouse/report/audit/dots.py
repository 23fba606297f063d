"""Models as dots, by their responses to a change that should matter and one that should not."""

import altair as alt

from decaf.foundation.number_text import limit_text
from warehouse.report.audit.facts import Facts, Row
from warehouse.report.pair_card import is_of_probability
from warehouse.report.svg import INK, MUTED, PAPER, WASH, Picture, svg_element

SIZE = 420
"""Side of the square, CSS pixels."""
FILLED, OPEN = "first", "other"
NOTHING = Picture("", "")


def dots_picture(facts: Facts) -> Picture:
    """Draw every model once for each path, at its responses to two changes, score units.

    The x axis has the change that should matter whose smallest response exceeds its limit least;
    the y axis, the change that should not matter whose largest response exceeds its limit most.
    Without a change of each kind, the picture is empty.
    """
    wanted_rows = [row for row in facts.responses if row.expect == "should_matter"]
    unwanted_rows = [row for row in facts.responses if row.expect == "should_not_matter"]
    if not wanted_rows or not unwanted_rows:
        return NOTHING
    wanted_type = min(
        wanted_rows, key=lambda row: row.abs_response - (row.wanted_limit or 0)
    ).pair_type
    unwanted_type = max(
        unwanted_rows, key=lambda row: row.abs_response - (row.safe_limit or 0)
    ).pair_type
    rows = {(row.model_id, row.path, row.pair_type): row for row in facts.responses}
    dots = [
        {
            "model": model,
            "path": path,
            "mark": FILLED if path == facts.paths[0] else OPEN,
            "x": rows[model, path, wanted_type].abs_response,
            "y": rows[model, path, unwanted_type].abs_response,
        }
        for model in dict.fromkeys(row.model_id for row in facts.responses)
        for path in facts.paths
        if {(model, path, wanted_type), (model, path, unwanted_type)} <= rows.keys()
    ]
    if not dots:
        return NOTHING
    least = next(row.wanted_limit for row in rows.values() if row.pair_type == wanted_type)
    most = next(row.safe_limit for row in rows.values() if row.pair_type == unwanted_type)
    largest = max(least or 0.0, most or 0.0, *(dot[axis] for dot in dots for axis in "xy"))
    end = 1.0 if is_of_probability(facts.run.score) else largest or 1.0
    title = f"Abs on {unwanted_type} and on {wanted_type}"
    if least is not None and most is not None:
        title = _title(dots, (wanted_type, unwanted_type), least, most)
    first, *more = facts.paths
    mark = "a model on one path; a line joins the marks of a model" if more else "a model"
    note = f"Each mark is {mark}. ● {first}" + "".join(f", ○ {path}" for path in more) + "."
    return Picture(title, _svg(dots, (wanted_type, unwanted_type), (least, most), end, title), note)


def _title(dots: list[Row], names: tuple[str, str], least: float, most: float) -> str:
    """Count the models whose marks all lie within the limits of both changes."""
    outside = {dot["model"] for dot in dots if dot["x"] < least or dot["y"] > most}
    models = {dot["model"] for dot in dots}
    safe = len(models) - len(outside)
    verb = "keeps" if safe == 1 else "keep"
    subject = f"{safe or 'None'} of {len(models)} models {verb}"
    if len(models) == 1:
        subject = "The model keeps" if safe else "The model does not keep"
    both = " and ".join(names)
    return f"{subject} the limits of Abs on {both}"


def _svg(
    dots: list[Row],
    names: tuple[str, str],
    limits: tuple[float | None, float | None],
    end: float,
    title: str,
) -> str:
    scale = alt.Scale(domain=[0, end], nice=False)
    axis = alt.Axis(values=[end * part / 4 for part in range(5)], format=".2~f")
    x = alt.X("x:Q", scale=scale, axis=axis, title=f"{names[0]} moves the score (should matter) →")
    y = alt.Y("y:Q", scale=scale, axis=axis, title=f"{names[1]} moves it (should not) →")
    base = alt.Chart(alt.InlineData(values=dots)).encode(x=x, y=y)
    layers = [
        base.mark_line(color=INK, strokeWidth=1).encode(detail="model:N"),
        base.transform_filter(alt.datum.mark == OPEN).mark_point(
            filled=True, fill=PAPER, stroke=INK, strokeWidth=1.8, size=70, opacity=1
        ),
        base.transform_filter(alt.datum.mark == FILLED).mark_point(
            filled=True, color=INK, size=70, opacity=1
        ),
        base.transform_filter(alt.datum.mark == FILLED)
        .mark_text(align="left", dx=9, dy=-6, fontSize=11.5, color=INK, stroke=PAPER, strokeWidth=3)
        .encode(text="model:N"),
    ]
    least, most = limits
    if least is not None and most is not None:
        corner = alt.InlineData(values=[{"x": least, "x2": end, "y": 0, "y2": most}])
        box = alt.Chart(corner).mark_rect(fill=WASH, stroke=MUTED, strokeDash=[4, 3], opacity=1)
        layers.insert(0, box.encode(x=x, x2="x2", y=y, y2="y2"))
    label = title
    if least is not None and most is not None:
        label += f": {names[0]} at least {limit_text(least)}, {names[1]} at most {limit_text(most)}"
    chart = alt.layer(*layers).properties(width=SIZE, height=SIZE)
    return svg_element(chart, label)
