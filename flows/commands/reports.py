"""Writing reports again: what ``decaf report`` does and prints."""

from collections.abc import Sequence
from pathlib import Path

from rich.console import Console

from decaf.errors import ConfigError
from decaf.plan.study import load_study
from flows.commands.display import below_chance
from tasks.publish import publish, publish_comparison


def write_report(console: Console, config: Path, against: Sequence[str] | None) -> None:
    """Write the report of a study, or its comparison with runs; tell of accuracy at chance."""
    study = load_study(config)
    if study.report_file is None:
        raise ConfigError(f"{config}: 'report' is false; expected the file that the report goes to")
    if against:
        page = publish_comparison(study.warehouse, study, study.report_file, against)
        console.print(f"comparison: {page}")
        return
    page = publish(study.warehouse, study)
    below_chance(console, study.warehouse, study.study)
    console.print(f"report: {page}")
