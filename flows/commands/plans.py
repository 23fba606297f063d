"""The command that plans a run and estimates its costs: ``decaf plan``."""

from typing import Annotated

import typer

from decaf.errors import BadInput, DecafError
from flows.commands.options import Config, Force, SkipModels
from flows.commands.terminal import console


def plan(
    config: Config,
    explain: Annotated[
        bool, typer.Option("--explain", help="print why each unit of work has to be computed")
    ] = False,
    force: Force = None,
    skip_models: SkipModels = False,
    assume: Annotated[
        str | None,
        typer.Option(
            "--assume",
            metavar="DEVICES|ROWS",
            help="print only hours, disk, memory and money of the whole study, on measured devices "
            "(4xH100) or at so many forward rows per second (2500); needs no models",
        ),
    ] = None,
    price: Annotated[
        float | None,
        typer.Option("--price", min=0, help="with --assume: price of an hour of all devices"),
    ] = None,
    pairs: Annotated[
        int | None,
        typer.Option("--pairs", min=1, help="with --assume: number of pairs, without the data"),
    ] = None,
) -> None:
    """Print the plan of a run: models, pairs, units of work, forward rows, stored results."""
    from decaf.plan.study import load_study
    from flows.commands import display
    from flows.commands.reaudits import refuse_registry
    from tasks.plan import plan_audit

    if assume is None and (price is not None or pairs is not None):
        raise BadInput("--price and --pairs need --assume, as in --assume 2500 --price 2.5")
    study = load_study(config)
    refuse_registry(study, "plan")
    if assume is not None:
        from flows.commands.assumptions import show_costs

        show_costs(console, study, assume, price, pairs)
        return
    if not skip_models:
        from tasks.cluster import fork_server

        fork_server.begin_early(study)  # it starts while this process reads the pairs
    planned = plan_audit(study, display.describe_pairs(console, study), force or ())
    if not skip_models:
        from flows.commands.trials import try_models

        try:
            planned = try_models(console, planned)
        except DecafError:
            display.show_plan(console, planned, shows_reasons=explain)
            raise
    display.show_plan(console, planned, shows_reasons=explain)
