"""``decaf schedule`` and ``decaf serve``. Each command imports its own modules."""

import json
from datetime import datetime, tzinfo
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer
from rich.text import Text

from flows.commands.options import Config
from flows.commands.terminal import console, say

if TYPE_CHECKING:
    from prefect.client.schemas.objects import FlowRun

    from flows.scheduling.schedules import Schedule, Schedules

schedules = typer.Typer(
    help="Run configurations on a schedule, while decaf serve is running.", no_args_is_help=True
)
DEFAULT_HOST, DEFAULT_PORT = "127.0.0.1", 4200
Name = Annotated[str, typer.Argument(help="name of the schedule", metavar="NAME")]


def serve(
    host: Annotated[
        str,
        typer.Option("--host", help="address to listen on; default: this machine only"),
    ] = DEFAULT_HOST,
    port: Annotated[int, typer.Option("--port", min=1, max=65535, help="port")] = DEFAULT_PORT,
    listen: Annotated[
        str | None,
        typer.Option(
            "--listen", metavar="HOST:PORT", help="receive MLflow's webhooks, as 127.0.0.1:4300"
        ),
    ] = None,
) -> None:
    """Run a Prefect server and a worker of the schedules until Ctrl-C; restart both if one dies."""
    from flows.scheduling import service

    service.home().mkdir(parents=True, exist_ok=True)  # without a parent folder, Prefect warns
    from flows.scheduling import serving

    serving.serve(host, port, listen)


@schedules.command("list")
def show(
    as_json: Annotated[bool, typer.Option("--json", help="print JSON")] = False,
) -> None:
    """List the schedules with their next run, the state of the last run, and pauses."""
    from flows.commands.display import table_of
    from flows.scheduling.cron import zone

    server = _server()
    all_schedules = server.all()
    rows = [(each, server.next_run(each.id), server.last_run(each.id)) for each in all_schedules]
    if as_json:
        say(console, json.dumps([_as_json(*row) for row in rows], indent=1))
        return
    if not rows:
        console.print('no schedules; make one: decaf schedule add CONFIG --cron "0 2 * * *"')
        return
    names = ("schedule", "cron", "timezone", "next run", "last run", "ended as", "configuration")
    table = table_of(None, names, len(names))
    for schedule, next_run, last in rows:
        local = zone(schedule.timezone)
        due = next_run and next_run.next_scheduled_start_time
        coming = "paused" if schedule.is_paused else _at(due, local)
        begun, state = _at(last and last.start_time, local), last and last.state_name or ""
        config = f"{schedule.config}{'' if schedule.config.exists() else ' (gone)'}"
        cells = (schedule.name, schedule.cron, schedule.timezone, coming, begun, state, config)
        table.add_row(*map(Text, cells))
    console.print(table)
    if not any(schedule.is_served for schedule in all_schedules):
        console.print("no worker runs them: start decaf serve")


@schedules.command()
def add(
    config: Config,
    cron: Annotated[str, typer.Option("--cron", help="minute, hour, day, month, weekday")],
    timezone: Annotated[
        str, typer.Option("--timezone", help="timezone of the times, as Europe/Berlin")
    ] = "UTC",
    name: Annotated[
        str | None, typer.Option("--name", help="name; default: that of the study")
    ] = None,
    on_change: Annotated[
        bool,
        typer.Option("--on-change", help="also run for an entry of its registry that changes"),
    ] = False,
) -> None:
    """Run a configuration on a schedule: as decaf reaudit if it has a registry, else decaf run.

    Relative paths in it start from the current directory of this command, in every run.
    """
    from decaf.errors import ScheduleError
    from decaf.plan.study import load_study
    from flows.scheduling.cron import next_date, zone
    from flows.scheduling.watching import FOLDER, MLFLOW

    study = load_study(config)
    next_date(cron, timezone)  # raises a clear error before the server sees it
    server = _server()
    name = _checked_name(name or study.study)
    if on_change and getattr(study.registry, "kind", None) not in (FOLDER, MLFLOW):
        raise ScheduleError(
            "--on-change needs a 'registry:' of kind folder or mlflow; others report no changes"
        )
    settings = (cron, timezone, config.absolute(), Path.cwd(), on_change)
    for schedule in server.all():
        if schedule.name != name:
            continue
        its_settings = (
            schedule.cron,
            schedule.timezone,
            schedule.config,
            schedule.folder,
            schedule.is_watched,
        )
        if its_settings == settings:
            say(console, f"schedule {name} exists already with these settings")
            return
        raise ScheduleError(
            f"schedule {name!r} exists already: {schedule.config} at {schedule.cron} "
            f"{schedule.timezone}, in {schedule.folder}; decaf schedule remove {name}, or use "
            "another --name"
        )
    first = server.add(name, *settings)
    due = first and first.next_scheduled_start_time
    say(console, f"{name}: first run {_at(due, zone(timezone))}")


@schedules.command()
def pause(name: Name) -> None:
    """Start no further runs; a run that has started continues."""
    server = _server()
    server.pause(server.find_schedule(name).id)
    say(console, f"{name} is paused; decaf schedule resume {name}")


@schedules.command()
def resume(name: Name) -> None:
    """Start runs again; those that were missed during the pause are not repeated."""
    from flows.scheduling.cron import zone

    server = _server()
    schedule = server.find_schedule(name)
    server.resume(schedule.id)
    next_run = server.next_run(schedule.id)
    due = next_run and next_run.next_scheduled_start_time
    say(console, f"{name}: next run {_at(due, zone(schedule.timezone))}")


@schedules.command()
def remove(name: Name) -> None:
    """Delete a schedule; a run that has started continues."""
    server = _server()
    server.remove(server.find_schedule(name).id)
    say(console, f"{name} is removed")


@schedules.command("run")
def run_now(name: Name) -> None:
    """Run it now, even if it is paused; the schedule does not change."""
    from decaf.errors import ScheduleError

    server = _server()
    schedule = server.find_schedule(name)
    if schedule.id in {run.deployment_id for run in [*server.under_way(), *server.due()]}:
        raise ScheduleError(f"a run of {name} is already in progress; wait for it")
    server.run_now(schedule.id)
    say(console, f"{name} begins within seconds; decaf schedule list shows its state")


def _server() -> "Schedules":
    from flows.scheduling import service
    from flows.scheduling.schedules import Schedules

    return Schedules(service.address())


def _checked_name(name: str) -> str:
    """Check that a name can also be the name of a folder; returns it."""
    from pydantic import TypeAdapter, ValidationError

    from decaf.errors import ScheduleError
    from decaf.plan.study import Name as StudyName

    try:
        return TypeAdapter(StudyName).validate_python(name)
    except ValidationError as error:
        raise ScheduleError(
            f"{name!r} cannot be the name of a schedule; expected letters, digits, '.', '_', '+' "
            "and '-', at most 60, of which the first is a letter or digit"
        ) from error


def _at(moment: datetime | None, zone: tzinfo) -> str:
    return "" if moment is None else f"{moment.astimezone(zone):%Y-%m-%d %H:%M:%S %Z}"


def _as_json(
    schedule: "Schedule", next_run: "FlowRun | None", last: "FlowRun | None"
) -> dict[str, Any]:
    due = next_run and next_run.next_scheduled_start_time
    return {
        "name": schedule.name,
        "cron": schedule.cron,
        "timezone": schedule.timezone,
        "config": str(schedule.config),
        "folder": str(schedule.folder),
        "paused": schedule.is_paused,
        "served": schedule.is_served,
        "next_run": due and due.isoformat(),
        "last_run": last
        and {
            "state": last.state_name,
            "message": last.state and last.state.message or "",
            "started": last.start_time and last.start_time.isoformat(),
            "ended": last.end_time and last.end_time.isoformat(),
        },
    }
