"""Colours of roles and grounds, the same in pages, charts and notebooks."""

ROLES = ("evidence", "contradiction", "fragility")
COLOURS = {
    "evidence": "#0f7b80",
    "contradiction": "#b93a2b",
    "fragility": "#dba021",
    "abs_response": "#5b6472",
}
"""Teal, red and gold differ under the three common colour-vision deficiencies and in grey."""

GROUNDS = {
    "paper": "#fbfbfa",
    "card": "#fff",
    "wash": "#f1f3f5",
    "ink": "#17202b",
    "muted": "#535d6b",
    "rule": "#dde1e6",
    "line": "#98a2af",
    "shade": "#17202b40",
    "edge": "#946a00",
    "hatch": "#ffffff70",
}
"""Grounds, text and lines of a light page."""

INK, MUTED = GROUNDS["ink"], GROUNDS["muted"]
