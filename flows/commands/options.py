"""Arguments and options that several commands have."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

if TYPE_CHECKING:
    from decaf.plan.study import Study
    from warehouse.storage import Storage


def open_warehouse(root: str) -> "Storage":
    """Open the warehouse that a command is about, for all that the command does with it."""
    from warehouse import storage

    return storage.open(root)


def open_study(config: Path) -> tuple["Study", "Storage"]:
    """Load a study and open its warehouse."""
    from decaf.plan.study import load_study

    study = load_study(config)
    return study, open_warehouse(study.warehouse)


Config = Annotated[Path, typer.Argument(help="YAML file of the study", metavar="CONFIG")]
Force = Annotated[
    list[str] | None,
    typer.Option(
        "--force",
        metavar="KIND[:NAME][@MODEL]",
        help="compute units again although their results are there, as in score:blend@resnet*",
    ),
]
ToTheEnd = Annotated[
    bool,
    typer.Option("--to-the-end", help="score every pair, where the study's 'stop:' says less"),
]
Against = Annotated[
    list[str] | None,
    typer.Option(
        "--against",
        metavar="RUN|VERSION|WAREHOUSE",
        help="compare the newest run, on a page of its own, with another: by the beginning of its "
        "id, a version that it audited, or the folder or URL of the warehouse that it lies in; "
        "repeated, with several side by side",
    ),
]
Warehouse = Annotated[
    Any,  # the storage that open_warehouse returns
    typer.Option(
        "--warehouse",
        "-w",
        parser=open_warehouse,
        envvar="DECAF_WAREHOUSE",
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
        help="memory for the rows of a query; what is larger goes to the temporary folder, and the "
        "process never takes more than twice as much",
    ),
]
Entries = Annotated[
    list[str] | None,
    typer.Option(
        "--entry",
        metavar="NAME[@ALIAS|@VERSION]",
        help="audit this entry alone, or a version that is not followed; what else has changed "
        "keeps its last state",
    ),
]
SkipModels = Annotated[
    bool,
    typer.Option("--skip-models", help="do not load the models to see whether they can be used"),
]
StudyName = Annotated[str | None, typer.Option("--study", help="this study alone")]
DEFAULT_WAREHOUSE = "runs/warehouse"
DEFAULT_MEMORY = 4
