"""Write the reference pages from what they describe."""

import dataclasses
import inspect
import re
from collections.abc import Sequence
from pathlib import Path
from types import UnionType
from typing import Annotated, Any, NamedTuple, Union, get_args, get_origin, get_type_hints

from pydantic import SecretStr

from decaf.data.adapters.base import Adapter
from decaf.data.photo_changes import PhotoChange
from decaf.data.table_changes import Change, Permuted
from decaf.evaluation.baselines.base import Baseline
from decaf.evaluation.labels.base import LabelSource
from decaf.foundation.plugins import members
from decaf.foundation.settings import Settings
from decaf.models.card import ModelCard
from decaf.models.epoch_rules.base import EpochRule
from decaf.models.recipes.base import EstimatorRecipe, NetworkRecipe
from decaf.plan.cluster import CudaWorkers, LocalWorkers, SchedulerAddress
from decaf.plan.presentation import Report
from decaf.plan.stopping import Stop
from decaf.plan.study import Study
from decaf.registry.alerts import Alerts, Webhook
from decaf.registry.entries import Registry
from decaf.registry.gates import METRICS, Gate
from decaf.registry.write_back import WriteBack
from decaf.reveal.path import RevealPath
from decaf.reveal.refinement import Refinement
from decaf.scoring.scores.base import ScoreDefinition
from warehouse.query.catalog import connect_empty
from warehouse.query.views import View, views
from warehouse.tables.columns import SCHEMA_VERSION
from warehouse.tables.declarations import TABLES

FOLDER = Path(__file__).parent
NOTICE = "<!-- Written by docs/make_reference.py; change the descriptions in the code instead. -->"
SECTIONS = {
    "`data:`": Adapter,
    "`score:`": ScoreDefinition,
    "`paths:`": RevealPath,
}
STUDY_SECTIONS = {
    "`data:`": Adapter,
    "`score:`": ScoreDefinition,
    "`paths:`": RevealPath,
    "`labels:`": LabelSource,
    "`baselines:`": Baseline,
    "`training:` of a network": NetworkRecipe,
    "`training:` of an estimator": EstimatorRecipe,
    "`epoch_rule:`": EpochRule,
}
"""Sections with members that only the paper's studies use."""
TAGS = ("adapter", "kind", "recipe", "rule", "source")
TYPES = {
    str: "text",
    SecretStr: "text",
    bool: "`true` | `false`",
    int: "whole number",
    float: "number",
    Path: "path",
}
DOCUMENTED_KINDS = ("core", "out", "paper")
ANSWERS = ("out", "paper")
TITLES = {
    "core": "Rows of the newest run of every study",
    "out": "Answers",
    "macros/": "Macros",
    "staging": "All committed rows, every run",
    "checks": "Checks: each returns the offending rows",
}
"""Titles of the folders of ``sql/``, and of the folders inside one; in this order."""
STUDY_TITLES = {"studies": "Published values", "studies/": "Views of one study"}


class Key(NamedTuple):
    """One key of a section."""

    name: str
    annotation: Any
    default: str
    description: str | None


def configuration() -> str:
    """Every key of a study."""
    parts = [
        NOTICE,
        "# Configuration",
        "A study is one YAML file. `!file other.yaml` includes another file, relative to the file "
        "that names it; a list in a list is included item by item. `${NAME}` is an environment "
        "variable. Folders in `python_path:` start from the file, other relative paths from the "
        "current directory. `adapter`, `kind`, `source` and `recipe` may also name a class of an "
        "[installed package or your module](plugins.md). Data, labels, baselines and trainings of "
        "the paper's studies [have a page](studies/configuration.md).",
        "Unknown keys, numbers out of range, and values that JSON lacks (a date without quotes, "
        "`.inf`, `.nan`) are errors that name the line; for a key, also the nearest valid one. "
        "`decaf plan CONFIG` reads a study without running it.",
        "## The study",
        _keys(Study),
        "## `models:` – one card per model",
        "A card without `source:` is a `network`. [Examples of each](models.md).",
        *_variants(members(ModelCard)),
        "## `registry:`",
        "[Re-audits of a registry](reaudit.md).",
        *_variants(members(Registry)),
        "### `write_back:`",
        _keys(WriteBack),
        "## `gates:` – one section, or a list of several, for each column",
        f"A column is one of {', '.join(f'`{name}`' for name in METRICS)}.",
        _keys(Gate),
        "## `stages:` – a rule",
        "[When a rule ends](paths.md#stages-that-double). A path or the study has the section in "
        "the place of a number.",
        _keys(Refinement),
        "## `stop:`",
        "[Audits that stop early](stopping.md). `when: gates_decided` does not accept the keys of "
        "`when: interval`.",
        _keys(Stop),
        "## `alerts:`",
        _keys(Alerts),
        "### `webhook:`",
        _keys(Webhook),
        "## `report:`",
        "`report: PATH` and `report: false` are short for `report: {page: …}`.",
        _keys(Report),
        "## `cluster:`",
        *_variants([LocalWorkers, CudaWorkers, SchedulerAddress]),
    ]
    for key, base in SECTIONS.items():
        parts += [f"## {key}", *_variants(_split(base)[0])]
    parts += ["## `changes:` of a table – one section for each", _keys(Change)]
    parts += ["### `permute:`", _keys(Permuted)]
    parts += ["## `changes:` of `image_pairs` – one section for each", _keys(PhotoChange)]
    return "\n\n".join(parts) + "\n"


def study_configuration() -> str:
    """Keys that only the paper's studies use."""
    parts = [
        NOTICE,
        "# Configuration of the paper's studies",
        "Keys of data, paths, labels, baselines and trainings that the paper's studies use. "
        "[All other keys](../configuration.md), also those that sections here only name.",
    ]
    for key, base in STUDY_SECTIONS.items():
        general, special = _split(base)
        listed = special if key in SECTIONS else [*general, *special]
        if listed:
            described = general if key in SECTIONS else []
            parts += [f"## {key}", *_variants(listed, described, name_repeated=True)]
    # Descriptions link to pages of the folder above.
    return re.sub(r"\]\((?=\w)", "](../", "\n\n".join(parts)) + "\n"


def _split(base: type) -> tuple[list[type], list[type]]:
    """Members that any study may use, and those of the paper's studies."""
    special = [one for one in members(base) if one.__module__.startswith("decaf.studies")]
    return [one for one in members(base) if one not in special], special


def warehouse() -> str:
    """Views and tables that every study has."""
    parts = [
        NOTICE,
        "# Views and tables",
        'Ask with `decaf sql "SELECT …"`. `decaf views` lists the views, '
        "`decaf views NAME` the columns of one with their types. [Worked questions](sql.md); "
        "[views of the paper's studies](studies/views.md).",
        *_views(),
        f"# Tables (schema version {SCHEMA_VERSION})",
    ]
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


def _views() -> list[str]:
    """Tables of the views of every study, with their rows and columns."""
    parts = []
    columns = _columns()
    for title, inside in _titled(TITLES):
        rows = [view.grain.removeprefix("one row per ") for view in inside]
        cells = _cells(inside)
        paper = {"paper": cells.pop("paper")} if "paper" in cells else {}
        parts += [f"## {title}", _lines({**cells, "one row per": rows, **paper})]
        if readable := [view for view in inside if view.kind in DOCUMENTED_KINDS]:
            lists = [
                f"- `{view.name}`: {', '.join(f'`{name}`' for name in columns[view.name])}"
                for view in readable
            ]
            parts += ["Columns:", "\n".join(lists)]
    return parts


def study_views() -> str:
    """Views of the paper's studies: purposes of answers, names of all other views."""
    parts = [
        NOTICE,
        "# Views of the paper's studies",
        "`decaf views NAME` shows the purpose, rows and columns of a view. "
        "[Views of every study](../warehouse.md).",
    ]
    for title, inside in _titled(STUDY_TITLES):
        answers = [view for view in inside if view.kind in ANSWERS] or inside
        parts += [f"## {title}", _lines(_cells(answers))]
        names = [f"`{view.name}`" for view in inside if view not in answers]
        if names:
            parts.append(f"Other views and macros: {', '.join(names)}.")
    return "\n\n".join(parts) + "\n"


def _titled(titles: dict[str, str]) -> list[tuple[str, list[View]]]:
    """Views of each titled folder, by its title; in the order of the titles."""
    listed = [view for view in views() if _title(view.folder) in titles]
    order = list(titles)
    folders = dict.fromkeys(view.folder for view in listed)
    titled = []
    for folder in sorted(folders, key=lambda name: order.index(_title(name))):
        title = _title(folder)
        name = folder.removeprefix(title) if title.endswith("/") else ""
        inside = [view for view in listed if view.folder == folder]
        titled.append((f"{titles[title]}{name and f': {name}'}", inside))
    return titled


def _cells(listed: list[View]) -> dict[str, list[str]]:
    """Columns of a table of views, by their heads."""
    cells = {"name": [f"`{view.name}`" for view in listed]}
    cells["purpose"] = [view.purpose for view in listed]
    if any(view.paper != "none" for view in listed):
        cells["paper"] = [view.paper for view in listed]
    return cells


def _lines(cells: dict[str, list[str]]) -> str:
    """Table of columns by their heads."""
    rows = [cells, ["---"] * len(cells), *zip(*cells.values(), strict=True)]
    return "\n".join(f"| {' | '.join(map(_cell, row))} |" for row in rows)


def _columns() -> dict[str, list[str]]:
    """Names of the columns of every view, from DuckDB's catalogue: nothing is bound again."""
    with connect_empty() as connection:
        rows = connection.sql(
            "SELECT table_name, column_name FROM duckdb_columns() ORDER BY column_index"
        ).fetchall()
    columns: dict[str, list[str]] = {}
    for view, column in rows:
        columns.setdefault(view, []).append(column)
    return columns


def _title(folder: str) -> str:
    """Key of a folder of ``sql/`` in the titles: the folder, or the one that holds it."""
    return folder if folder in {**TITLES, **STUDY_TITLES} else f"{folder.partition('/')[0]}/"


def _variants(
    models: list[type], described: Sequence[type] = (), name_repeated: bool = False
) -> list[str]:
    """Sections of classes; with ``name_repeated``, keys of earlier ones are only named.

    The classes ``described`` count as earlier; another page has their sections.
    """
    parts = []
    earlier: dict[str, str] = {}
    for model in reversed(described):
        earlier |= dict.fromkeys(_rows(model).values(), _title_of(model))
    for model in models:
        name, rows = _title_of(model), _rows(model)
        parts += [f"### {name}", inspect.getdoc(model).split("\n\n")[0].replace("\n", " ")]
        repeated: dict[str, list[str]] = {}
        for key, row in rows.items() if name_repeated else ():
            if row in earlier:
                repeated.setdefault(earlier[row], []).append(f"`{key}`")
        shown = [row for row in rows.values() if not name_repeated or row not in earlier]
        if shown:
            parts.append(_table(shown))
        if repeated:
            places = [f"as for {place}: {', '.join(named)}" for place, named in repeated.items()]
            parts.append("A" + "; ".join(places)[1:] + ".")
        earlier |= {row: name for row in shown}
    return parts


def _tag(model: type) -> Key:
    """Key that chooses a class; another key may have the name of a tag, such as `source`."""
    return next(key for key in _described(model) if key.name in TAGS)


def _title_of(model: type) -> str:
    """Key and value that choose a class, such as `kind: blend`."""
    tag = _tag(model)
    return f"`{tag.name}: {get_args(tag.annotation)[0]}`"


def _rows(model: type) -> dict[str, str]:
    """Rows of the keys of a class, without its tag."""
    tag = _tag(model)
    return {key.name: _row(model, key) for key in _described(model) if key != tag}


def _keys(model: type) -> str:
    return _table([_row(model, key) for key in _described(model)])


def _row(model: type, key: Key) -> str:
    if not key.description:
        raise ValueError(f"{model.__name__}.{key.name} has no description")
    kind = _type(key.annotation)
    return f"| `{key.name}` | {_cell(kind)} | {key.default} | {_cell(key.description)} |"


def _table(rows: list[str]) -> str:
    return "\n".join(["| key | type | default | meaning |", "|---|---|---|---|", *rows])


def _described(model: type) -> list[Key]:
    """Keys of a settings class, or of a path's dataclass (those of its base last)."""
    if issubclass(model, Settings):
        # Data sets begin with where the data are.
        late = set(model.model_fields) - set(model.__annotations__)
        late = late if issubclass(model, Adapter) else set()
        return [
            Key(
                name,
                field.annotation,
                "required" if field.is_required() else f"`{_shown(field.default)}`",
                field.description,
            )
            for name, field in sorted(model.model_fields.items(), key=lambda own: own[0] in late)
        ]
    types = get_type_hints(model)
    keys = [
        Key(field.name, types[field.name], _default(field), _description(field))
        for field in dataclasses.fields(model)
        if field.metadata.get("is_key", True)
    ]
    return sorted(keys, key=lambda key: key.name == "stages")


def _default(field: dataclasses.Field) -> str:
    return "required" if field.default is dataclasses.MISSING else f"`{_shown(field.default)}`"


def _description(field: dataclasses.Field) -> str | None:
    return field.metadata.get("description")


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
        given = [argument for argument in arguments if not _is_for_python_alone(argument)]
        named = [_type(argument) for argument in given]
        return " | ".join(dict.fromkeys(named))
    if origin is tuple and arguments[-1] is Ellipsis:
        return f"list of {_type(arguments[0])}"
    if origin is tuple:
        return f"{len(arguments)} × {_type(arguments[0])}"
    if origin is dict:
        return f"mapping to {_type(arguments[1])}"
    if origin is not None:
        return " | ".join(f"`{argument}`" for argument in arguments)
    if issubclass(annotation, Settings) or dataclasses.is_dataclass(annotation):
        return "section"
    return TYPES.get(annotation, "any")


def _is_for_python_alone(annotation: Any) -> bool:
    """Whether no YAML can say it: absence, or an object in memory."""
    return annotation is type(None) or (
        dataclasses.is_dataclass(annotation)
        and annotation is not Refinement
        and "kind" not in annotation.__dataclass_fields__
    )


PAGES = {
    FOLDER / "configuration.md": configuration,
    FOLDER / "warehouse.md": warehouse,
    FOLDER / "studies" / "configuration.md": study_configuration,
    FOLDER / "studies" / "views.md": study_views,
}

if __name__ == "__main__":
    for path, write in PAGES.items():
        path.write_text(write())
