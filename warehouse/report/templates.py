"""Pages from the templates next to this module, written whole or not at all."""

from base64 import b64encode
from functools import cache
from hashlib import sha256
from pathlib import Path
from typing import Any

import jinja2
from markupsafe import Markup

from decaf.errors import WriteFailed
from decaf.foundation import number_text
from decaf.foundation.files import convert_os_errors, replace_file
from decaf.library import bar, pair_card
from decaf.library.curve import HATCH, draw_curve
from decaf.library.palette import COLOURS, DARK, GROUNDS


def read_text(name: str) -> str:
    """Text of a file in the folder of the templates, such as a script."""
    return (Path(__file__).parent / name).read_text(encoding="utf-8")


TABLE_SCRIPT = read_text("card.js") + read_text("tables.js")
"""Copies cards, sorts and filters tables: the only script that the policy of a report allows."""


def policy_of(script: str) -> str:
    """Content security policy of a page with one script, which loads nothing from elsewhere."""
    digest = b64encode(sha256(script.encode()).digest()).decode()
    rules = "default-src 'none'; style-src 'unsafe-inline'; img-src data:"
    return f"{rules}; script-src 'sha256-{digest}'"


def render(template: str, **values: Any) -> bytes:
    """Fill a template, UTF-8; a missing value is an error."""
    return _environment().get_template(template).render(values).encode()


@cache
def _environment() -> jinja2.Environment:
    environment = jinja2.Environment(
        loader=jinja2.PackageLoader("warehouse.report", "."),
        autoescape=jinja2.select_autoescape(("html.j2",)),
        trim_blocks=True,
        lstrip_blocks=True,
        undefined=jinja2.StrictUndefined,
    )
    for kind in ("count", "limit", "percent", "score", "signed", "tick"):
        environment.filters[f"{kind}_text"] = getattr(number_text, f"{kind}_text")
    environment.globals["colours"] = COLOURS | GROUNDS
    environment.globals["dark_colours"] = DARK
    environment.globals["card_style"] = pair_card.STYLE
    environment.globals["bar_style"] = bar.STYLE
    environment.globals["draw_bar"] = lambda *parts: Markup(bar.draw_bar(*parts))
    environment.globals["hatch"] = Markup(HATCH)
    environment.globals["draw_curve"] = lambda *parts: Markup(draw_curve(*parts))
    environment.globals["table_script"] = TABLE_SCRIPT
    environment.globals["table_policy"] = policy_of(TABLE_SCRIPT)
    return environment


def write(target: Path, kind: str, page: bytes) -> Path:
    """Write a page; raises WriteFailed, which names the kind of page, when it cannot be written."""
    with convert_os_errors(
        WriteFailed, f"{kind} {target} cannot be written", "choose another folder"
    ):
        replace_file(target, lambda path: path.write_bytes(page))
    return target
