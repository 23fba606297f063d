"""Write reports again, for ``decaf report``."""

from collections.abc import Sequence
from pathlib import Path

from rich.console import Console

from decaf.errors import ConfigError
from flows.commands.options import open_study
from flows.commands.remarks import remark_changed_study, remark_warnings
from flows.commands.terminal import say
from tasks.publish import publish, publish_comparison


def write_report(console: Console, config: Path, against: Sequence[str] | None) -> None:
    """Write the report of a study, or its comparison with runs; and its remarks."""
    study, store = open_study(config)
    if study.report_file is None:
        raise ConfigError(f"{config}: 'report' is false; expected the file that the report goes to")
    if against:
        page = publish_comparison(store, study, study.report_file, against)
        console.print(f"comparison: {page}")
        return
    facts = publish(store, study, str(config))
    remarks = remark_changed_study(config, study, store)
    for remark in remarks + remark_warnings(facts.warnings if facts else ()):
        say(console, remark)
    console.print(f"report: {study.report_file}")
