"""Costs of a study on assumed devices, as ``decaf plan --assume`` prints them."""

from rich.console import Console
from rich.filesize import decimal

from decaf.errors import BadInput, number_of
from decaf.plan.study import Study
from flows.commands.display import describe_pairs
from flows.commands.terminal import say
from tasks.assumed_costs import Rate, assumed_costs, parse_rate
from tasks.progress import duration_text


def show_costs(
    console: Console, study: Study, assumption: str, price: float | None, pair_count: int | None
) -> None:
    """Print hours, disk, memory and money of a whole study; needs no models.

    ``price`` is that of an hour. With ``pair_count``, the data are not read; without it, raises
    BadInput if they are missing.
    """
    rate = parse_rate(assumption, study)
    pairs = None
    if pair_count is None:
        try:
            pairs = describe_pairs(console, study)
        except BadInput as error:
            raise BadInput(f"{error}\nto plan without the data, add --pairs N") from error
    costs = assumed_costs(study, rate, pairs, pair_count or 0)
    models = number_of(len(study.models), "model")
    say(console, f"rows: at most {costs.rows:,} forward rows of {models} on all pairs")
    say(console, f"rate: {_between(rate.slowest, rate.fastest, ',.0f')} rows/s{_basis(rate)}")
    first, last = (duration_text(3600 * hours) for hours in costs.hours)
    say(console, f"time, h:mm:ss: {first}{f' to {last}' * (first != last)}")
    if price is not None:
        money = [price * hours for hours in costs.hours]
        say(console, f"money: {_between(*money, ',.2f')}, at {price:,.2f} an hour")
    inputs = "" if costs.input_bytes is None else f"; inputs: at most {decimal(costs.input_bytes)}"
    say(console, f"disk: about {decimal(costs.disk_bytes)} of trajectories{inputs}")
    if rate.memory is None:
        say(console, "memory: decaf plan measures it where the models are")
    else:
        low, high = rate.memory
        say(console, f"memory: {low / 1000:.1f} to {high / 1000:.1f} GB a device, as measured")
    for remark in rate.remarks:
        say(console, remark)
    if costs.left_out:
        say(console, f"not included: {', '.join(costs.left_out)}")


def _basis(rate: Rate) -> str:
    return "" if rate.memory is None else ", slowest and fastest measured network"


def _between(low: float, high: float, form: str) -> str:
    """Two values as a range, or as one if they are written the same."""
    first, last = f"{low:{form}}", f"{high:{form}}"
    return first if first == last else f"{first} to {last}"
