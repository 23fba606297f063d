"""Pages from the templates beside this module, written whole or not at all."""

from base64 import b64encode
from hashlib import sha256
from pathlib import Path
from typing import Any

import jinja2

from decaf.errors import WriteFailed
from decaf.foundation.files import refusals_as, replace_file

TABLE_SCRIPT = (Path(__file__).parent / "tables.js").read_text(encoding="utf-8")
"""What sorts and filters the tables of a page: the only script that its policy allows."""


def render(template: str, **values: Any) -> bytes:
    """Fill a template, UTF-8; a name that it asks for and is not given is an error."""
    environment = jinja2.Environment(
        loader=jinja2.PackageLoader("warehouse.report", "."),
        autoescape=jinja2.select_autoescape(("html.j2",)),
        trim_blocks=True,
        lstrip_blocks=True,
        undefined=jinja2.StrictUndefined,
    )
    environment.globals["table_script"] = TABLE_SCRIPT
    digest = sha256(TABLE_SCRIPT.encode()).digest()
    environment.globals["table_script_sha256"] = b64encode(digest).decode()
    return environment.get_template(template).render(values).encode()


def write(target: Path, kind: str, page: bytes) -> Path:
    """Write a page; raises WriteFailed, with what kind of page it is, when the disk refuses."""
    with refusals_as(WriteFailed, f"{kind} {target} cannot be written", "choose another folder"):
        replace_file(target, lambda path: path.write_bytes(page))
    return target
