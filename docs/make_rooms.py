"""Draw which room of decaf imports which, from the imports themselves: ``images/rooms.svg``."""

from pathlib import Path

import grimp

PICTURE = Path(__file__).parent / "images" / "rooms.svg"
ORDER = (
    ("contracts", "studies"),
    ("plan", "library"),
    ("registry", "evaluation"),
    ("scoring",),
    ("reveal", "models"),
    ("data",),
    ("statistics", "routing"),
)
"""Rooms by floor, the highest first: a room imports from floors below its own."""
GROUND = "foundation, errors"
"""What all rooms import; arrows to it would hide the others."""
WIDTH, FLOOR, BOX, MARGIN = 620, 78, (130, 36), 30
INK, LINE, PAPER = "#2b2b2b", "#8a8f98", "#ffffff"


def arrows() -> set[tuple[str, str]]:
    """Pairs of rooms of which the first imports the second, directly."""
    graph = grimp.build_graph("decaf")
    rooms = [name for floor in ORDER for name in floor]
    return {
        (one, other)
        for one in rooms
        for other in rooms
        if one != other
        and graph.direct_import_exists(
            importer=f"decaf.{one}", imported=f"decaf.{other}", as_packages=True
        )
    }


def picture() -> str:
    """The rooms as boxes, floor by floor, with their arrows, as SVG."""
    height = MARGIN * 2 + FLOOR * len(ORDER) + BOX[1]
    places = {}
    for floor, names in enumerate(ORDER):
        for number, name in enumerate(names):
            share = (number + 1) / (len(names) + 1)
            places[name] = (round(WIDTH * share), MARGIN + FLOOR * floor + BOX[1] // 2)
    lines = [
        _arrow(places[one], places[other], number)
        for number, (one, other) in enumerate(sorted(arrows()))
    ]
    boxes = [_box(name, *place, BOX[0]) for name, place in places.items()]
    boxes.append(_box(GROUND, WIDTH // 2, height - MARGIN - BOX[1] // 2, WIDTH - 2 * MARGIN))
    return "\n".join(
        [
            f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {height}" '
            'font-family="sans-serif" font-size="14">',
            f'<rect width="{WIDTH}" height="{height}" fill="{PAPER}"/>',
            *lines,
            *boxes,
            "</svg>\n",
        ]
    )


def _arrow(start: tuple[int, int], end: tuple[int, int], number: int) -> str:
    """A curve that leaves the straight line, so that arrows past several floors stay apart."""
    bend = (end[1] - start[1]) * (0.2 if number % 2 else -0.2)
    middle = (start[0] + end[0]) / 2 + bend, (start[1] + end[1]) / 2
    path = f"M{start[0]} {start[1]} Q{middle[0]:.0f} {middle[1]:.0f} {end[0]} {end[1]}"
    return f'<path d="{path}" fill="none" stroke="{LINE}" stroke-width="1"/>'


def _box(name: str, x: int, y: int, width: int) -> str:
    height = BOX[1]
    return (
        f'<rect x="{x - width // 2}" y="{y - height // 2}" width="{width}" height="{height}" '
        f'rx="4" fill="{PAPER}" stroke="{INK}"/>'
        f'<text x="{x}" y="{y + 5}" text-anchor="middle" fill="{INK}">{name}</text>'
    )


if __name__ == "__main__":
    PICTURE.write_text(picture(), encoding="utf-8")
