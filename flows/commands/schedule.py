"""``decaf schedule`` and ``decaf serve``. Each command imports what it needs."""

import json
from datetime import datetime, tzinfo
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer
from rich.text import Text

from flows.commands.terminal import console

if TYPE_CHECKING:
    from flows.scheduling.schedules import Run, Schedule, Schedules

schedules = typer.Typer(
    help="Run configurations on a schedule, while decaf serve is running.", no_args_is_help=True
)
DEFAULT_HOST, DEFAULT_PORT = "127.0.0.1", 4200
Config = Annotated[Path, typer.Argument(help="YAML file of the study", metavar="CONFIG")]
Name = Annotated[str, typer.Argument(help="name of the schedule", metavar="NAME")]


def serve(
    host: Annotated[
        str,
        typer.Option(
            "--host", help="address to listen on; others than this machine's own reach it too"
        ),
    ] = DEFAULT_HOST,
    port: Annotated[int, typer.Option("--port", min=1, max=65535, help="port")] = DEFAULT_PORT,
) -> None:
    """Run a Prefect server and what is scheduled, until Ctrl-C; both are restarted if they die."""
    from flows.scheduling import serving

    serving.serve(host, port)


@schedules.command("list")
def show(
    as_json: Annotated[bool, typer.Option("--json", help="print JSON")] = False,
) -> None:
    """List the schedules: when they run next, what became of the last run, what is paused."""
    from flows.commands.display import table_of
    from flows.scheduling.cron import zone

    server = _server()
    found = server.all()
    rows = [(one, server.next_run(one.id), server.last_run(one.id)) for one in found]
    if as_json:
        said = json.dumps([_as_json(*row) for row in rows], indent=1)
        console.print(said, highlight=False, markup=False, soft_wrap=True)
        return
    if not rows:
        console.print('no schedules; make one: decaf schedule add CONFIG --cron "0 2 * * *"')
        return
    names = ("schedule", "cron", "timezone", "next run", "last run", "ended as", "configuration")
    table = table_of(None, names, len(names))
    for one, following, last in rows:
        local = zone(one.timezone)
        coming = "paused" if one.is_paused else _at(following and following.due, local)
        begun, state = _at(last and last.started, local), last.state_name if last else ""
        config = f"{one.config}{'' if one.config.exists() else ' (gone)'}"
        cells = (one.name, one.cron, one.timezone, coming, begun, state, config)
        table.add_row(*(Text(cell) for cell in cells))
    console.print(table)
    if not any(one.is_served for one in found):
        console.print("nobody runs them: start decaf serve")


@schedules.command()
def add(
    config: Config,
    cron: Annotated[str, typer.Option("--cron", help="when: minute, hour, day, month, weekday")],
    timezone: Annotated[
        str, typer.Option("--timezone", help="whose clock, as Europe/Berlin")
    ] = "UTC",
    name: Annotated[
        str | None, typer.Option("--name", help="the name of the study if not given")
    ] = None,
) -> None:
    """Run a configuration on a schedule: as decaf reaudit if it has a registry, else decaf run.

    Relative paths in it start from the folder that this is called in, now and in every run.
    """
    from decaf.errors import ScheduleError
    from decaf.plan.study import load_study
    from flows.scheduling.cron import next_date, zone

    study = load_study(config)
    next_date(cron, timezone)  # refused here, before the server gets to choke on it
    server = _server()
    known = {one.name: one for one in server.all()}
    name = _checked_name(name or study.study)
    given = (cron, timezone, config.absolute(), Path.cwd())
    if name in known:
        there = known[name]
        if (there.cron, there.timezone, there.config, there.folder) == given:
            _say(f"{name} is there already, and just so")
            return
        raise ScheduleError(
            f"schedule {name!r} is there already: {there.config} at {there.cron} {there.timezone}, "
            f"in {there.folder}; decaf schedule remove {name}, or give this one another --name"
        )
    first = server.add(name, *given)
    _say(f"{name}: first run {_at(first and first.due, zone(timezone))}")


@schedules.command()
def pause(name: Name) -> None:
    """Make no more runs; one that is under way goes on."""
    server = _server()
    server.pause(server.named(name).id)
    _say(f"{name} is paused; decaf schedule resume {name}")


@schedules.command()
def resume(name: Name) -> None:
    """Make runs again; those of the meantime are not made up for."""
    from flows.scheduling.cron import zone

    server = _server()
    one = server.named(name)
    server.resume(one.id)
    following = server.next_run(one.id)
    _say(f"{name}: next run {_at(following and following.due, zone(one.timezone))}")


@schedules.command()
def remove(name: Name) -> None:
    """Forget a schedule; one of its runs that is under way goes on."""
    server = _server()
    server.remove(server.named(name).id)
    _say(f"{name} is removed")


@schedules.command("run")
def run_now(name: Name) -> None:
    """Run it now, paused or not; the schedule stays as it is."""
    from decaf.errors import ScheduleError

    server = _server()
    one = server.named(name)
    last = server.last_run(one.id)
    if last is not None and last.ended is None:
        raise ScheduleError(f"a run of {name} is under way already ({last.message}); wait for it")
    server.run_now(one.id)
    _say(f"{name} begins within seconds; decaf schedule list says what becomes of it")


def _server() -> "Schedules":
    from flows.scheduling import service
    from flows.scheduling.schedules import Schedules

    return Schedules(service.address())


def _say(text: str) -> None:
    console.print(text, highlight=False, soft_wrap=True, markup=False)


def _checked_name(name: str) -> str:
    """A name that is a folder's, too."""
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


def _as_json(one: "Schedule", following: "Run | None", last: "Run | None") -> dict[str, Any]:
    return {
        "name": one.name,
        "cron": one.cron,
        "timezone": one.timezone,
        "config": str(one.config),
        "folder": str(one.folder),
        "paused": one.is_paused,
        "served": one.is_served,
        "next_run": following and following.due.isoformat(),
        "last_run": last
        and {
            "state": last.state_name,
            "message": last.message,
            "started": last.started and last.started.isoformat(),
            "ended": last.ended and last.ended.isoformat(),
        },
    }
