"""Write the reference pages from what they describe: settings, tables, views and commands."""

import inspect
from pathlib import Path
from types import UnionType
from typing import Annotated, Any, Union, get_args, get_origin

from decaf.discovery import members
from decaf.models.card import ModelCard
from decaf.settings import Settings
from decaf.study import CudaWorkers, LocalWorkers, SchedulerAddress, Study
from warehouse.catalog import views
from warehouse.schemas import SCHEMA_VERSION, TABLES

FOLDER = Path(__file__).parent
NOTICE = "<!-- Written by docs/make_reference.py; change the descriptions in the code instead. -->"
SECTIONS = {
    "data": "decaf.data",
    "score": "decaf.scores",
    "paths": "decaf.reveal",
    "training": "decaf.training",
}
FOLDERS = {
    "core": "Rows of the newest run of every study",
    "out": "Answers",
    "macros": "Macros",
    "staging": "All committed rows, every run",
    "checks": "Checks: each returns the offending rows",
}


def configuration() -> str:
    """Every key of a study."""
    parts = [
        NOTICE,
        "# Configuration",
        "A study is one YAML file. `!file other.yaml` puts another file in a key's place (relative "
        "to the file that names it), `${NAME}` is an environment variable, other relative paths "
        "start from the current directory. An unknown key is an error that names its line and the "
        "nearest valid key. `decaf plan CONFIG` reads a study without running it.",
        "## The study",
        _keys(Study),
        "## `models:` – one card per model",
        _keys(ModelCard),
        "## `cluster:`",
        *_variants([LocalWorkers, CudaWorkers, SchedulerAddress]),
    ]
    for key, package in SECTIONS.items():
        parts += [f"## `{key}:` – one module of `{package}` each", *_variants(members(package))]
    return "\n\n".join(parts) + "\n"


def warehouse() -> str:
    """Every view and every table."""
    parts = [
        NOTICE,
        "# Views and tables",
        'Ask with `decaf sql "SELECT …"`. `decaf views` lists the views; `DESCRIBE view` its '
        "columns.",
    ]
    for folder, title in FOLDERS.items():
        rows = [
            f"| `{view.name}` | {_cell(view.purpose)} | {_cell(view.grain)} | {view.paper} |"
            for view in views()
            if view.folder == folder
        ]
        header = ["| name | purpose | grain | paper |", "|---|---|---|---|"]
        parts += [f"## {title}", "\n".join(header + rows)]
    parts.append(f"# Tables (schema version {SCHEMA_VERSION})")
    for table in TABLES.values():
        keys = ", ".join(f"`{key}`" for key in table.key)
        folders = ", ".join(f"`{name}`" for name in table.partition)
        rows = [
            f"| `{c.name}` | {c.type}{', may be NULL' if c.nullable else ''} | {_cell(c.doc)} |"
            for c in table.columns
        ]
        parts += [
            f"## `{table.name}`",
            f"{table.grain.capitalize()}. Key: {keys}. Folders: {folders}.",
            "\n".join(["| column | type | meaning |", "|---|---|---|", *rows]),
        ]
    return "\n\n".join(parts) + "\n"


def _variants(models: list[type[Settings]]) -> list[str]:
    parts = []
    for model in models:
        tag = next(iter(model.model_fields.items()))
        name = f"`{tag[0]}: {get_args(tag[1].annotation)[0]}`"
        parts += [f"### {name}", inspect.getdoc(model).split("\n\n")[0].replace("\n", " ")]
        if len(model.model_fields) > 1:
            parts.append(_keys(model, skip=tag[0]))
    return parts


def _keys(model: type[Settings], skip: str = "") -> str:
    rows = ["| key | type | default | meaning |", "|---|---|---|---|"]
    for name, field in model.model_fields.items():
        if name == skip:
            continue
        if not field.description:
            raise ValueError(f"{model.__name__}.{name} has no description")
        default = "required" if field.is_required() else f"`{_shown(field.default)}`"
        kind = _type(field.annotation)
        rows.append(f"| `{name}` | {_cell(kind)} | {default} | {_cell(field.description)} |")
    return "\n".join(rows)


def _cell(text: str) -> str:
    return text.replace("|", "\\|")


def _shown(default: Any) -> str:
    if isinstance(default, Settings):
        return str(default.model_dump())
    return str(default) if not isinstance(default, tuple) else str(list(default))


def _type(annotation: Any) -> str:
    origin, arguments = get_origin(annotation), get_args(annotation)
    if origin is Annotated:
        return _type(arguments[0])
    if origin in (Union, UnionType):
        named = [_type(argument) for argument in arguments if argument is not type(None)]
        return " | ".join(dict.fromkeys(named))
    if origin is tuple and arguments[-1] is Ellipsis:
        return f"list of {_type(arguments[0])}"
    if origin is tuple:
        return f"{len(arguments)} × {_type(arguments[0])}"
    if origin is dict:
        return f"mapping to {_type(arguments[1])}"
    if origin is not None:
        return " | ".join(f"`{argument}`" for argument in arguments)
    if isinstance(annotation, type) and issubclass(annotation, Settings):
        return "section"
    return {"str": "text", "int": "whole number", "float": "number", "Path": "path"}.get(
        annotation.__name__, "any"
    )


PAGES = {"configuration.md": configuration, "warehouse.md": warehouse}

if __name__ == "__main__":
    for name, write in PAGES.items():
        (FOLDER / name).write_text(write())
