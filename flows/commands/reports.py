"""Writing reports again: what ``decaf report`` does and prints."""

from collections.abc import Sequence
from pathlib import Path

from rich.console import Console

from decaf.errors import ConfigError
from flows.commands.options import open_study
from flows.commands.remarks import remark_chance
from flows.commands.terminal import say
from tasks.publish import publish, publish_comparison
from warehouse.query.damage import connect_whole


def write_report(console: Console, config: Path, against: Sequence[str] | None) -> None:
    """Write the report of a study, or its comparison with runs; tell of accuracy at chance."""
    study, store = open_study(config)
    if study.report_file is None:
        raise ConfigError(f"{config}: 'report' is false; expected the file that the report goes to")
    if against:
        page = publish_comparison(store, study, study.report_file, against)
        console.print(f"comparison: {page}")
        return
    page = publish(store, study, str(config))
    with connect_whole(store, study.study) as connection:
        remarks = remark_chance(connection, study.study)
    for remark in remarks:
        say(console, remark)
    console.print(f"report: {page}")
