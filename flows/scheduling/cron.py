"""Cron expressions and timezones, as Prefect's scheduler understands them."""

import asyncio
import difflib
from datetime import UTC, datetime
from zoneinfo import ZoneInfo, available_timezones

from pydantic import ValidationError

import tasks  # noqa: F401 - settings come before Prefect
from decaf.errors import ScheduleError


def next_date(cron: str, timezone: str, after: datetime | None = None) -> datetime:
    """Next date of a schedule, in UTC.

    If daylight saving skips the time, Prefect's run is an hour early; since 3.9.1, an hour late.

    Raises ScheduleError for an invalid expression, and for one that no date matches, for which
    Prefect would silently run nothing.
    """
    from prefect.server.schemas.schedules import CronSchedule

    try:
        schedule = CronSchedule(cron=cron, timezone=zone(timezone).key)
    except ValidationError as error:
        raise ScheduleError(
            f"--cron {cron!r} is not a cron expression; expected five fields: minute, hour, day, "
            "month, weekday, as in '0 2 * * *'"
        ) from error
    try:
        (date,) = asyncio.run(schedule.get_dates(1, after))
    except ValueError as error:
        raise ScheduleError(
            f"--cron {cron!r} matches no date, so nothing would ever run; give another "
            "expression, such as '0 2 * * *'"
        ) from error
    return date.astimezone(UTC)


def zone(name: str) -> ZoneInfo:
    """Timezone of a name.

    Raises ScheduleError, which suggests the nearest name, for an unknown name.
    """
    names = available_timezones()
    if name not in names:
        near = difflib.get_close_matches(name, names, n=1)
        meant = f"did you mean {near[0]!r}? " if near else ""
        raise ScheduleError(
            f"unknown timezone {name!r}; {meant}expected a name of the IANA database, such as UTC "
            "or Europe/Berlin"
        )
    return ZoneInfo(name)
