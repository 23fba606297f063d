"""The commands. Each imports its own modules, so that a plan loads no torch."""

from pathlib import Path
from typing import Annotated, Literal

import typer

from decaf import __version__
from decaf.errors import BadInput
from flows.commands import figures, init, plans, registries, viewing
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
app.command()(init.init)
app.command()(viewing.view)
app.command()(figures.figure)
app.command()(plans.plan)


def say_version(is_asked: bool) -> None:
    """Print the version, and exit."""
    if is_asked:
        say(console, f"decaf {__version__}")
        raise typer.Exit


@app.callback()
def options(
    debug: Annotated[bool, typer.Option("--debug", help="show tracebacks")] = False,
    version: Annotated[
        bool,
        typer.Option("--version", help="print the version", callback=say_version, is_eager=True),
    ] = False,
) -> None:
    """Audit how models react to controlled change: evidence, contradiction, fragility."""
    # ``cli.main`` reads --debug itself, before the command line is parsed.
    try:
        Path.cwd()
    except FileNotFoundError:
        raise BadInput("the current directory no longer exists; change to another") from None


@app.command()
def run(config: Config, force: Force = None, to_the_end: ToTheEnd = False) -> None:
    """Run a study; after an interruption, the same command resumes it."""
    from flows.commands import runs

    runs.run(console, config, force or (), should_score_all=to_the_end)


@app.command()
def data(
    config: Config,
    html: Annotated[
        Path | None,
        typer.Option("--html", metavar="FILE", help="also write a page with ten pairs"),
    ] = None,
    as_json: Annotated[bool, typer.Option("--json", help="print the result as JSON")] = False,
) -> None:
    """Check the pairs of a study and all their files, and show ten pairs, without scoring."""
    from flows.commands.data import show_data

    show_data(console, config, html, is_json=as_json)


for command in (registries.reaudit, registries.accept, registries.card, registries.history):
    app.command()(command)


@app.command()
def status(
    warehouse: Warehouse = DEFAULT_WAREHOUSE,
    study: StudyName = None,
) -> None:
    """Print the progress of the runs, even while they run in another terminal."""
    from flows.commands import display

    display.print_status(console, warehouse, study)


@app.command()
def sql(
    query: Annotated[
        str | None,
        typer.Argument(help="a SELECT over views and tables; default: --file or standard input"),
    ] = None,
    warehouse: Warehouse = DEFAULT_WAREHOUSE,
    file: Annotated[Path | None, typer.Option("--file", "-f", help="file with the query")] = None,
    param: Annotated[
        list[str] | None, typer.Option("--param", "-p", help="name=value for $name in the query")
    ] = None,
    file_format: Annotated[
        Literal["table", "csv", "spreadsheet", "json", "jsonl", "latex", "parquet"] | None,
        typer.Option(
            "--format",
            help="default: table on a terminal, csv elsewhere; spreadsheet is csv in which no text "
            "is a formula",
        ),
    ] = None,
    output: Annotated[
        Path | None,
        typer.Option("--output", "-o", help="write this file; it is complete or absent"),
    ] = None,
    limit: Annotated[
        int | None,
        typer.Option("--limit", min=0, help="rows of a table, 100 by default; 0 prints all"),
    ] = None,
    memory: Memory = DEFAULT_MEMORY,
) -> None:
    """Query the warehouse in SQL, even during a run; queries cannot change it."""
    from flows.commands import sql as sql_command

    text = sql_command.read_query(query, file)
    chosen = sql_command.chosen_format(file_format, output)
    values = sql_command.parameters(param or [])
    sql_command.answer(console, warehouse, text, values, chosen, output, limit, memory)


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
    """List the classes that studies can use, and their packages; exit code 1 if one is unusable."""
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
    """Check the contracts of a plug-in; exit code 1 if one is broken."""
    from flows.commands.plugins import check_plugins

    check_plugins(console, target)


@app.command()
def doctor(
    config: Annotated[
        Path | None, typer.Argument(help="YAML file of a study", metavar="[CONFIG]")
    ] = None,
    warehouse: Warehouse = DEFAULT_WAREHOUSE,
    as_json: Annotated[bool, typer.Option("--json", help="print the result as JSON")] = False,
    skip_models: SkipModels = False,
) -> None:
    """Check this machine for audits, and warn of slow parts; exit code 1 for a problem.

    CONFIG determines the warehouse; --warehouse applies without CONFIG.
    """
    from flows.commands.doctor import doctor

    doctor(console, config, warehouse, tries_models=not skip_models, is_json=as_json)


@app.command()
def export(
    target: Annotated[
        Path,
        typer.Argument(
            help="folder for files, or a file that ends in .duckdb or .xlsx", metavar="TARGET"
        ),
    ],
    names: Annotated[
        list[str] | None,
        typer.Argument(
            help="tables or views; default: every table, or for DuckDB every core and out view; "
            "xlsx and latex need names",
            metavar="[NAME]...",
        ),
    ] = None,
    warehouse: Warehouse = DEFAULT_WAREHOUSE,
    study: StudyName = None,
    file_format: Annotated[
        Literal["parquet", "csv", "spreadsheet", "latex", "xlsx"] | None,
        typer.Option(
            "--format",
            help="format of the files; spreadsheet is csv without formulas, latex a table for a "
            "paper, xlsx one workbook",
        ),
    ] = None,
    memory: Memory = DEFAULT_MEMORY,
) -> None:
    """Copy tables and views: files with a manifest, one DuckDB file, or one workbook."""
    from flows.commands.export import copy_views

    copy_views(console, target, names or [], warehouse, study, file_format, memory)


@app.command()
def check(
    warehouse: Warehouse = DEFAULT_WAREHOUSE,
    study: StudyName = None,
    quick: Annotated[
        bool, typer.Option("--quick", help="compare only sizes of files, not digests")
    ] = False,
    repair: Annotated[
        bool,
        typer.Option(
            "--repair",
            help="withdraw damaged results instead; the next run computes them again",
        ),
    ] = False,
) -> None:
    """Run every check; exit code 1 if one finds offending rows, such as missing units."""
    from flows.commands import upkeep

    if repair:
        upkeep.repair_warehouse(console, warehouse, study)
    else:
        upkeep.check(console, warehouse, study, is_quick=quick)


@app.command()
def report(config: Config, against: Against = None) -> None:
    """Write the report of a study again, or compare runs; needs only the warehouse."""
    from flows.commands.reports import write_report

    write_report(console, config, against)


@app.command()
def results(
    config: Config,
    page: Annotated[
        Path, typer.Argument(help="Markdown file; pictures go next to it", metavar="PAGE")
    ],
) -> None:
    """Write a page with the tables of the paper and the study's numbers, or a plug-in's tables."""
    from tasks.publish import publish_results

    study, store = open_study(config)
    console.print(f"page: {publish_results(store, study, page)}")


@app.command()
def scoreboard(
    folders: Annotated[
        list[Path] | None,
        typer.Argument(
            help="folders with pages of decaf results, instead of a warehouse",
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
    """Compare every number of the paper with decaf's; print tallies, and write pages."""
    from flows.commands.scoreboard import show_scoreboard

    show_scoreboard(console, folders or [], warehouse, [html, markdown])


@app.command()
def maps(
    config: Config,
    picture: Annotated[Path, typer.Argument(help="JPEG or PNG file", metavar="PICTURE")],
    model: Annotated[str | None, typer.Option(help="this model; default: the first one")] = None,
    method: Annotated[
        list[str] | None,
        typer.Option(
            help="this method; default: the finest DECAF, Endpoint M and the four best others"
        ),
    ] = None,
    images: Annotated[int, typer.Option(min=1, max=40, help="rows of the picture")] = 6,
) -> None:
    """Draw attributions of the features of some images by several methods, from best to worst."""
    from tasks.maps import draw_maps

    study, store = open_study(config)
    drawn = draw_maps(store, study, picture, model, method or [], images)
    console.print(f"picture: {drawn}")


@app.command()
def compact(
    study: Annotated[str | None, typer.Argument(help="only this study", metavar="STUDY")] = None,
    warehouse: Warehouse = DEFAULT_WAREHOUSE,
) -> None:
    """Merge small files of finished work into large ones; readers are not interrupted."""
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
            help="withdraw old runs except the newest 30 of each study (30) or those of the last "
            "90 days (90d); with both, a run stays if either keeps it",
        ),
    ] = None,
    delete: Annotated[bool, typer.Option("--delete", help="delete the listed files")] = False,
    older_than: Annotated[
        float, typer.Option("--older-than", min=0, help="grace period, days")
    ] = 7.0,
) -> None:
    """List files that no run needs any more; with --delete, delete them."""
    from flows.commands import upkeep

    if keep:
        upkeep.withdraw_runs(console, warehouse, upkeep.parse_keep(keep), study, is_real=delete)
    upkeep.collect_garbage(console, warehouse, older_than, study, is_real=delete)
