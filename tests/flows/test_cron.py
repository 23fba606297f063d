"""Dates of a schedule in its time zone."""

from datetime import datetime

import prefect
import pytest
from packaging.version import Version

from decaf.errors import ScheduleError
from flows.scheduling.cron import next_date

IS_LATER = Version(prefect.__version__) >= Version("3.9.1")
IN_THE_HOUR_LEFT_OUT = "2027-03-28T03:30+02:00" if IS_LATER else "2027-03-28T01:30+01:00"
"""When Prefect runs what was to run at 02:30, which that night does not have."""


@pytest.mark.parametrize(
    ("cron", "after", "expected"),
    [
        ("0 2 * * *", "2026-11-21T12:00+01:00", "2026-11-22T02:00+01:00"),
        ("30 2 * * *", "2027-03-27T12:00+01:00", IN_THE_HOUR_LEFT_OUT),
        ("30 2 * * *", "2027-10-30T12:00+02:00", "2027-10-31T02:30+02:00"),  # 02:30 comes twice
        ("30 2 * * *", "2027-10-31T02:31+02:00", "2027-11-01T02:30+01:00"),
        ("0 9 * * 1", "2026-11-21T12:00+01:00", "2026-11-23T09:00+01:00"),
    ],
)
def test_dates_keep_to_the_clock_of_their_timezone(cron, after, expected):
    found = next_date(cron, "Europe/Berlin", datetime.fromisoformat(after))
    assert found == datetime.fromisoformat(expected)


def test_a_schedule_that_would_never_run_is_refused():
    for cron in ("61 * * * *", "* * * *", "0 2 * * 8", "nightly", ""):
        with pytest.raises(ScheduleError, match="cron"):
            next_date(cron, "UTC")
    with pytest.raises(ScheduleError, match=r"'0 0 31 2 \*' matches no date"):
        next_date("0 0 31 2 *", "UTC")
    with pytest.raises(ScheduleError, match="did you mean 'Europe/Berlin'"):
        next_date("0 2 * * *", "Europe/Berln")
