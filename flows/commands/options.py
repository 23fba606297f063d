"""Arguments and options that several commands have."""

import os
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

if TYPE_CHECKING:
    from decaf.plan.study import Study
    from warehouse.storage import Storage


def open_warehouse(root: str) -> "Storage":
    """Open the warehouse of a command."""
    from warehouse import storage

    return storage.open(root)


def open_study(config: Path) -> tuple["Study", "Storage"]:
    """Load a study and open its warehouse."""
    from decaf.plan.study import load_study

    study = load_study(config)
    return study, open_warehouse(study.warehouse)


def warn_of_other_warehouse(study: "Study") -> None:
    """Warn if the environment names another warehouse than the study, which writes to its own."""
    from tasks.progress import announce

    named = os.environ.get(WAREHOUSE_VARIABLE)
    if named and _absolute(named) != _absolute(study.warehouse):
        announce(
            f"warning: {WAREHOUSE_VARIABLE} names {named}, but study {study.study} writes to "
            f"{study.warehouse}; to write to the first, add to the study: "
            f"warehouse: ${{{WAREHOUSE_VARIABLE}}}"
        )


def _absolute(root: str) -> str:
    return root if "://" in root else str(Path(root).resolve())


WAREHOUSE_VARIABLE = "DECAF_WAREHOUSE"
Config = Annotated[Path, typer.Argument(help="YAML file of the study", metavar="CONFIG")]
Force = Annotated[
    list[str] | None,
    typer.Option(
        "--force",
        metavar="KIND[:NAME][@MODEL]",
        help="compute units again whose results are stored, as in score:blend@resnet*",
    ),
]
ToTheEnd = Annotated[
    bool,
    typer.Option("--to-the-end", help="score every pair, in spite of the study's 'stop:'"),
]
Against = Annotated[
    list[str] | None,
    typer.Option(
        "--against",
        metavar="RUN|VERSION|WAREHOUSE",
        help="write a page that compares the newest run with another: the beginning of its id, an "
        "audited version, or the folder or URL of its warehouse; repeat the option to compare "
        "several",
    ),
]
Warehouse = Annotated[
    Any,  # the storage that open_warehouse returns
    typer.Option(
        "--warehouse",
        "-w",
        parser=open_warehouse,
        envvar=WAREHOUSE_VARIABLE,
        help="root of the warehouse: folder or URL",
        metavar="TEXT",
    ),
]
Memory = Annotated[
    int,
    typer.Option(
        "--memory",
        metavar="GB",
        min=1,
        max=1_000_000,
        envvar="DECAF_MEMORY",
        help="memory for the rows of a query; further rows go to the temporary folder, and the "
        "process takes at most twice as much",
    ),
]
Entries = Annotated[
    list[str] | None,
    typer.Option(
        "--entry",
        metavar="NAME[@ALIAS|@VERSION]",
        help="audit only this entry, or a version that is not followed; other changed entries keep "
        "their last state",
    ),
]
SkipModels = Annotated[
    bool,
    typer.Option("--skip-models", help="do not load the models to check that they can be used"),
]
StudyName = Annotated[str | None, typer.Option("--study", help="only this study")]
DEFAULT_WAREHOUSE = "runs/warehouse"
DEFAULT_MEMORY = 4
