"""The command that writes charts of the report as files: ``decaf figure``."""

from pathlib import Path
from typing import Annotated

import typer
from rich.table import Table

from decaf.errors import BadInput
from flows.commands.options import Config, open_study
from flows.commands.terminal import console, say


def figure(
    config: Config,
    chart: Annotated[
        str | None, typer.Argument(help="name of the chart, as --list has it", metavar="CHART")
    ] = None,
    target: Annotated[
        Path | None,
        typer.Argument(help="file that ends in .svg, .png or .pdf", metavar="FILE"),
    ] = None,
    path: Annotated[
        str | None,
        typer.Option("--path", help="reveal path of the charts of stages; by default the first"),
    ] = None,
    is_list: Annotated[
        bool, typer.Option("--list", help="list the charts of the study instead")
    ] = False,
) -> None:
    """Write a chart of the report as SVG, PNG or PDF; needs only the warehouse."""
    from flows.commands.remarks import remark_changed_study
    from warehouse.query.damage import connect_whole
    from warehouse.report.charts import read_charts, write_chart

    if not is_list and (chart is None or target is None):
        raise BadInput(
            f"expected a chart and a file, as in decaf figure {config} verdict verdict.pdf; "
            "--list lists the charts"
        )
    if is_list and chart is not None:
        raise BadInput(f"found --list and the chart {chart}; expected one of them")
    study, store = open_study(config)
    for remark in remark_changed_study(config, study, store):
        say(console, remark)
    with connect_whole(store, study.study) as connection:
        charts = read_charts(connection, study.study, has_paper=study.report.paper, stage_path=path)
    if is_list:
        table = Table("chart", "shows")
        for name, picture in charts.items():
            table.add_row(name, picture.title + ("" if picture.svg else f" ({picture.note})"))
        console.print(table)
        return
    picture = write_chart(charts, chart, target)
    if picture.note:
        say(console, picture.note)
    console.print(f"figure: {target}")
