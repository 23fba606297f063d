"""Values of rows as plain types, for formats that lack DuckDB's types."""

import math
from datetime import date, datetime, time
from decimal import Decimal

import pyarrow as pa


def json_ready(value: object) -> object:
    """Convert a value to types that JSON has; other types become text."""
    if isinstance(value, float):
        return value if math.isfinite(value) else str(value)
    if isinstance(value, Decimal):
        return int(value) if value == value.to_integral_value() else float(value)
    if isinstance(value, dict):
        return {str(key): json_ready(item) for key, item in value.items()}
    if isinstance(value, pa.MonthDayNano):
        return interval_text(value)
    if isinstance(value, list | tuple):
        return [json_ready(item) for item in value]
    if isinstance(value, datetime | date | time):
        return value.isoformat()
    return value if value is None or isinstance(value, bool | int | str) else str(value)


def interval_text(value: pa.MonthDayNano) -> str:
    """Format a time interval as DuckDB does.

    Example
    -------
    >>> interval_text(pa.MonthDayNano([14, 3, 90_500_000_000]))
    '1 year 2 months 3 days 00:01:30.5'
    """
    years, months = divmod(abs(value.months), 12)
    sign = -1 if value.months < 0 else 1
    counts = {"year": sign * years, "month": sign * months, "day": value.days}
    words = [f"{n} {name}{'' if abs(n) == 1 else 's'}" for name, n in counts.items() if n]
    if value.nanoseconds or not words:
        seconds, microseconds = divmod(abs(value.nanoseconds) // 1000, 1_000_000)
        clock = f"{seconds // 3600:02}:{seconds // 60 % 60:02}:{seconds % 60:02}"
        fraction = f".{microseconds:06}".rstrip("0").rstrip(".")
        words.append(f"{'-' if value.nanoseconds < 0 else ''}{clock}{fraction}")
    return " ".join(words)
