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

DARK = {
    "paper": "#11151a",
    "card": "#181d24",
    "wash": "#222932",
    "ink": "#e8ebef",
    "muted": "#a5afbc",
    "rule": "#323a45",
    "line": "#6c7785",
    "shade": "#000a",
    "evidence": "#45b5b3",
    "contradiction": "#e8705f",
    "fragility": "#f0c75a",
    "abs_response": "#a5afbc",
    "edge": "#f0c75a",
    "hatch": "#11151a80",
}
"""The same for a dark page."""

INK, MUTED = GROUNDS["ink"], GROUNDS["muted"]


def notebook_style(name: str, style: str) -> str:
    """Style of elements of one class in a notebook, light and dark; it changes nothing else.

    The colours are those of the notebook's theme in Jupyter and VS Code, elsewhere those that the
    reader's system prefers.
    """
    light, dark = (
        "".join(f"--{key}:{colour};" for key, colour in colours.items())
        for colours in (COLOURS | GROUNDS, DARK)
    )
    return (
        f"<style>.{name} {{ {light} color-scheme: light dark; color: var(--ink); {style} }}"
        f"@media (prefers-color-scheme: dark) {{ .{name} {{ {dark} }} }}"
        f"[data-jp-theme-light=true] .{name}, .vscode-light .{name} {{ {light} }}"
        f"[data-jp-theme-light=false] .{name}, .vscode-dark .{name} {{ {dark} }}</style>"
    )
