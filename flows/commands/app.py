"""The commands. Each imports its own modules, so that a plan loads no torch."""

from pathlib import Path
from typing import Annotated, Literal

import typer

from decaf import __version__
from decaf.errors import BadInput, DecafError
from flows.commands import beginnings, registries, viewing
from flows.commands import schedule as schedule_commands
from flows.commands.options import (
    DEFAULT_MEMORY,
    DEFAULT_WAREHOUSE,
    Against,
    Config,
    Force,
    Memory,
    SkipModels,
    StudyName,
    ToTheEnd,
    Warehouse,
    open_study,
)
from flows.commands.terminal import console, say

app = typer.Typer(
    help="Audit how models react to controlled change: evidence, contradiction, fragility.",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
)

app.add_typer(schedule_commands.schedules, name="schedule")
app.command()(schedule_commands.serve)
app.command()(beginnings.init)
app.command()(viewing.view)


def say_version(is_asked: bool) -> None:
    """Print the version, and end."""
    if is_asked:
        say(console, f"decaf {__version__}")
        raise typer.Exit


@app.callback()
def options(
    debug: Annotated[bool, typer.Option("--debug", help="show tracebacks")] = False,
    version: Annotated[
        bool,
        typer.Option("--version", help="say the version", callback=say_version, is_eager=True),
    ] = False,
) -> None:
    """Audit how models react to controlled change: evidence, contradiction, fragility."""
    # ``cli.main`` reads the option itself: it must know before the command line is parsed.
    try:
        Path.cwd()
    except FileNotFoundError:
        raise BadInput("the current directory no longer exists; change to another") from None


@app.command()
def run(config: Config, force: Force = None, to_the_end: ToTheEnd = False) -> None:
    """Run a study; after an interruption, the same command resumes it."""
    from flows.commands import runs

    runs.run(console, config, force or (), is_whole=to_the_end)


@app.command()
def plan(
    config: Config,
    explain: Annotated[
        bool, typer.Option("--explain", help="say why each unit of work has to be computed")
    ] = False,
    force: Force = None,
    skip_models: SkipModels = False,
) -> None:
    """Print the plan of a run: models, pairs, units of work, forward rows, stored results."""
    from decaf.plan.study import load_study
    from flows.commands import display
    from flows.commands.reaudits import refuse_registry
    from tasks.plan import plan_audit

    study = load_study(config)
    refuse_registry(study, "plan")
    planned = plan_audit(study, display.describe_pairs(console, study), force or ())
    if not skip_models:
        from flows.commands.trials import try_models

        try:
            planned = try_models(console, planned)
        except DecafError:
            display.show_plan(console, planned, explained=explain)
            raise
    display.show_plan(console, planned, explained=explain)


@app.command()
def data(
    config: Config,
    html: Annotated[
        Path | None, typer.Option("--html", metavar="FILE", help="write ten pairs as one page, too")
    ] = None,
    as_json: Annotated[bool, typer.Option("--json", help="print what was found as JSON")] = False,
) -> None:
    """Check the pairs of a study and show ten of them, before anything is scored."""
    from flows.commands.data import show_data

    show_data(console, config, html, is_json=as_json)


for command in (registries.reaudit, registries.accept, registries.card, registries.history):
    app.command()(command)


@app.command()
def status(
    warehouse: Warehouse = DEFAULT_WAREHOUSE,
    study: StudyName = None,
) -> None:
    """Say how far the runs are, from another terminal if need be."""
    from flows.commands import display

    display.status(console, warehouse, study)


@app.command()
def sql(
    query: Annotated[
        str | None,
        typer.Argument(help="a SELECT over the views and tables; else --file, or piped in"),
    ] = None,
    warehouse: Warehouse = DEFAULT_WAREHOUSE,
    file: Annotated[Path | None, typer.Option("--file", "-f", help="file with the query")] = None,
    param: Annotated[
        list[str] | None, typer.Option("--param", "-p", help="name=value for $name in the query")
    ] = None,
    file_format: Annotated[
        Literal["table", "csv", "spreadsheet", "json", "jsonl", "parquet"] | None,
        typer.Option(
            "--format",
            help="a table at a terminal, csv elsewhere, unless given; spreadsheet is csv in which "
            "no text is a formula",
        ),
    ] = None,
    output: Annotated[
        Path | None,
        typer.Option("--output", "-o", help="write this file, whole or not at all"),
    ] = None,
    limit: Annotated[
        int | None,
        typer.Option("--limit", min=0, help="rows of a table, 100 if not given; 0 is all"),
    ] = None,
    memory: Memory = DEFAULT_MEMORY,
) -> None:
    """Ask the warehouse in SQL, while a run is going on too; nothing can be changed."""
    from flows.commands import questions

    text = questions.read_query(query, file)
    chosen = questions.chosen_format(file_format, output)
    values = questions.parameters(param or [])
    questions.answer(console, warehouse, text, values, chosen, output, limit, memory)


@app.command()
def views(
    name: Annotated[
        str | None, typer.Argument(help="a view, macro or check: its columns and an example")
    ] = None,
) -> None:
    """List the views with their grain and purpose, or describe one of them."""
    from flows.commands.views import list_views, show_view

    if name is None:
        list_views(console)
    else:
        show_view(console, name)


@app.command()
def plugins() -> None:
    """List what studies can be made of, by whom it is given; exit code 1 if some cannot be used."""
    from flows.commands.plugins import list_plugins

    list_plugins(console)


@app.command()
def check_plugin(
    target: Annotated[
        str,
        typer.Argument(
            help="a file, a folder or an installed package, or one class of it",
            metavar="FILE_OR_FOLDER_OR_PACKAGE[:CLASS]",
        ),
    ],
) -> None:
    """Try a plug-in against what its place asks of it; exit code 1 if something does not hold."""
    from flows.commands.plugins import check_plugins

    check_plugins(console, target)


@app.command()
def doctor(
    config: Annotated[
        Path | None, typer.Argument(help="YAML file of a study", metavar="[CONFIG]")
    ] = None,
    warehouse: Warehouse = DEFAULT_WAREHOUSE,
    as_json: Annotated[bool, typer.Option("--json", help="print what was found as JSON")] = False,
    skip_models: SkipModels = False,
) -> None:
    """Say what this machine has for an audit, and what will be slow; exit code 1 for a problem.

    A CONFIG names its warehouse itself; --warehouse is for the case without one.
    """
    from flows.commands.doctor import doctor

    doctor(console, config, warehouse, tries_models=not skip_models, is_json=as_json)


@app.command()
def export(
    target: Annotated[
        Path,
        typer.Argument(help="folder for files, or a file that ends in .duckdb", metavar="TARGET"),
    ],
    names: Annotated[
        list[str] | None,
        typer.Argument(
            help="tables or views; if none, every table, or for DuckDB every core and out view",
            metavar="[NAME]...",
        ),
    ] = None,
    warehouse: Warehouse = DEFAULT_WAREHOUSE,
    study: StudyName = None,
    file_format: Annotated[
        Literal["parquet", "csv", "spreadsheet"] | None,
        typer.Option("--format", help="format of the files; spreadsheet is csv without formulas"),
    ] = None,
    memory: Memory = DEFAULT_MEMORY,
) -> None:
    """Copy tables and views for other programs: files with a manifest, or one DuckDB file."""
    from flows.commands.copies import copy_views

    copy_views(console, target, names or [], warehouse, study, file_format, memory)


@app.command()
def check(
    warehouse: Warehouse = DEFAULT_WAREHOUSE,
    study: StudyName = None,
    quick: Annotated[
        bool, typer.Option("--quick", help="compare files by their sizes alone, not by digests")
    ] = False,
    repair: Annotated[
        bool,
        typer.Option(
            "--repair",
            help="give up what is damaged instead: the next run computes it again",
        ),
    ] = False,
) -> None:
    """Run every check; exit code 1 when one finds offending rows, such as missing units."""
    from flows.commands import upkeep

    if repair:
        upkeep.repair_warehouse(console, warehouse, study)
    else:
        upkeep.check(console, warehouse, study, is_quick=quick)


@app.command()
def report(config: Config, against: Against = None) -> None:
    """Write the report of a study again, or compare runs, from the warehouse alone."""
    from flows.commands.reports import write_report

    write_report(console, config, against)


@app.command()
def results(
    config: Config,
    page: Annotated[
        Path, typer.Argument(help="Markdown file; pictures go beside it", metavar="PAGE")
    ],
) -> None:
    """Write the tables of the paper next to the study's numbers, as a page for a repository."""
    from tasks.publish import publish_paper

    study, store = open_study(config)
    console.print(f"page: {publish_paper(store, study.study, page)}")


@app.command()
def scoreboard(
    folders: Annotated[
        list[Path] | None,
        typer.Argument(
            help="folders of pages that decaf results wrote, instead of a warehouse",
            metavar="[FOLDER]...",
        ),
    ] = None,
    warehouse: Warehouse = DEFAULT_WAREHOUSE,
    html: Annotated[
        Path | None,
        typer.Option("--html", metavar="FILE", help="write a page with pictures"),
    ] = None,
    markdown: Annotated[
        Path | None,
        typer.Option("--markdown", metavar="FILE", help="write a page of Markdown"),
    ] = None,
) -> None:
    """Count how every number of the paper compares with ours, and write them side by side."""
    from flows.commands.scoreboard import show_scoreboard

    show_scoreboard(console, folders or [], warehouse, [html, markdown])


@app.command()
def maps(
    config: Config,
    picture: Annotated[Path, typer.Argument(help="JPEG or PNG file", metavar="PICTURE")],
    model: Annotated[str | None, typer.Option(help="this model, not the first one")] = None,
    method: Annotated[
        list[str] | None,
        typer.Option(help="this method; the finest DECAF and the five best others if none"),
    ] = None,
    images: Annotated[int, typer.Option(min=1, max=40, help="rows of the picture")] = 6,
) -> None:
    """Draw what attribution methods say of the features of some images, from best to worst."""
    from tasks.maps import draw_maps

    study, store = open_study(config)
    drawn = draw_maps(store, study, picture, model, method or [], images)
    console.print(f"picture: {drawn}")


@app.command()
def compact(
    study: Annotated[str | None, typer.Argument(help="this study alone", metavar="STUDY")] = None,
    warehouse: Warehouse = DEFAULT_WAREHOUSE,
) -> None:
    """Fold the many small files of finished work into few large ones; readers go on."""
    from flows.commands import upkeep

    upkeep.compact_studies(console, warehouse, study)


@app.command()
def gc(
    warehouse: Warehouse = DEFAULT_WAREHOUSE,
    study: StudyName = None,
    keep: Annotated[
        list[str] | None,
        typer.Option(
            "--keep",
            metavar="RUNS|DAYSd",
            help="withdraw old runs, all but the newest 30 of each study (30), or those of the "
            "last 90 days (90d); given twice, what either keeps",
        ),
    ] = None,
    delete: Annotated[bool, typer.Option("--delete", help="delete it")] = False,
    older_than: Annotated[
        float, typer.Option("--older-than", min=0, help="grace period, days")
    ] = 7.0,
) -> None:
    """Say which files nobody needs any more, and with --delete, delete them."""
    from flows.commands import upkeep

    if keep:
        upkeep.withdraw_runs(console, warehouse, upkeep.parse_keep(keep), study, is_real=delete)
    upkeep.collect_garbage(console, warehouse, older_than, study, is_real=delete)
