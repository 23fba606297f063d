"""The page of what attributions cost: ratios beside the paper's, then every method of a network."""

import csv
import statistics
from pathlib import Path
from typing import Any

from decaf.errors import number_of

PUBLISHED = Path(__file__).parents[1] / "sql" / "studies" / "attribution" / "published.csv"
FIGURES = {"ms_per_image": "time", "peak_gib": "memory"}
RATIOS = [
    (ours, other, figure)
    for ours in ("decaf_3", "decaf_5")
    for other in ("ig_32", "kernel_shap_512")
    for figure in FIGURES
]
MACRO = ("resnet50", "vgg16", "vit_b_16")
"""The paper's table 11 has their mean."""
PAPERS = {
    "table 11": ("the paper's ResNet-50, VGG-16 and ViT-B/16 (table 11)", "16"),
    "table 4": ("the paper's DINOv2 ViT-g/14 on PartImageNet (table 4)", "–"),
}
COUNTED = {
    "forward_rows_per_image": "forward rows an image",
    "forward_passes": "passes",
    "backward_rows_per_image": "backward rows an image",
    "backward_passes": "passes",
}
ABOUT = """\
<!-- Written by benchmarks/attribution.py; run it again instead of editing. -->

# What attributions cost

Absolute figures belong to the machine that they were measured on. Compute alone: images lie on \
the device, networks are untrained, no file is read or written. All methods of a network have the \
same images, in batches of the same number of rows; one pass over the images is not timed, of \
those that follow the median counts. Rows and passes are counted at the network. Peak memory is \
that of the tensors that are alive at once, the network among them.

## DECAF against IG-32 and KernelSHAP-512

How many times the time and the memory of DECAF the other method takes: above 1, DECAF is \
cheaper. The more features an image has, the more states DECAF and KernelSHAP score; a gradient \
method takes the same. Images of table 4 have the parts of PartImageNet, about three."""

Costs = dict[str, dict[str, Any]]
"""Figures of every method."""


SHARED = """\
## Coalitions that methods share

Exact Shapley, KernelSHAP, LIME and Part Occlusion ask what an image is worth that shows some of \
its features; a study that has them all scores each coalition of an image once. Rows an image, \
mean of {images} images, {date}. *Asked* are the coalitions of a method as it is defined, those \
that it draws repeatedly each time; *scored* are rows counted at the network, in a study of that \
method alone and in one of all four."""


def page(found: dict[str, dict[str, Any]], coalitions: dict[str, Any] | None = None) -> str:
    """Markdown of everything that was measured, by device and network.

    ``coalitions`` are the figures of ``coalitions.py``, where there are any.
    """
    each = [(device, name, run) for device, runs in found.items() for name, run in runs.items()]
    compared = [
        [f"{name}, {device}", str(run["features"]), *ratios(run["costs"])]
        for device, name, run in each
    ]
    for device, runs in found.items():
        if runs.keys() >= set(MACRO):
            own = mean_of([runs[name]["costs"] for name in MACRO])
            compared.append([f"mean of {', '.join(MACRO)}, {device}", "16", *ratios(own)])
    compared += [[*said, *ratios(published(place))] for place, said in PAPERS.items()]
    titles = [f"{other} / {ours}, {FIGURES[figure]}" for ours, other, figure in RATIOS]
    lines = [ABOUT, *table(["network", "features", *titles], compared)]
    lines += shared(coalitions) if coalitions else []
    for device, name, run in each:
        lines += [
            f"## {name}, {device}",
            "",
            f"{run['features']} features, {number_of(run['images'], 'image')}, "
            f"{run['batch']} rows at once, weights of {run['weights_gib']:.2f} GiB, float32; "
            f"torch {run['torch']}, Python {run['python']}, {run['date']}.",
            *table(
                ["method", *COUNTED.values(), "ms an image", "peak, GiB"],
                [
                    [
                        method,
                        *(f"{cost[count]:g}" for count in COUNTED),
                        *(f"{cost[figure]:,.2f}" for figure in FIGURES),
                    ]
                    for method, cost in run["costs"].items()
                ],
            ),
        ]
    return "\n".join(lines)


def shared(coalitions: dict[str, Any]) -> list[str]:
    """Rows of methods that share coalitions, one by one and together."""
    every = coalitions["features"]
    titles = [f"{count} features, {way}" for count in every for way in ("asked", "scored")]
    rows: dict[str, list[float]] = {}
    for counts in every.values():
        one_by_one = [name for name in counts if name != "together"]
        for name in one_by_one:
            rows.setdefault(name, []).extend(counts[name].values())
        total = [sum(counts[name][way] for name in one_by_one) for way in ("asked", "scored")]
        rows.setdefault("one by one", []).extend(total)
        rows.setdefault("in one study", []).extend(counts["together"].values())
    shown = [[name, *(f"{value:,.4g}" for value in values)] for name, values in rows.items()]
    return [SHARED.format_map(coalitions), *table(["method", *titles], shown)]


def ratios(costs: Costs) -> list[str]:
    """What other methods take, of what ours take."""
    return [
        f"{costs[other][figure] / costs[ours][figure]:.2f}"
        if {ours, other} <= costs.keys()
        else "–"
        for ours, other, figure in RATIOS
    ]


def mean_of(every: list[Costs]) -> Costs:
    """Means over networks, of the methods that all of them have."""
    return {
        method: {one: statistics.mean(costs[method][one] for costs in every) for one in FIGURES}
        for method in every[0]
        if all(method in costs for costs in every)
    }


def published(place: str) -> Costs:
    """The paper's figures, of one of its tables."""
    found: Costs = {}
    with PUBLISHED.open(newline="") as file:
        for row in csv.DictReader(file):
            if row["place"] == place and row["statistic"] in FIGURES:
                value = float(row["exact"] or row["value"])
                found.setdefault(row["method"], {})[row["statistic"]] = value
    return found


def table(header: list[str], rows: list[list[str]]) -> list[str]:
    """Lines of a table of names and numbers."""
    rule = ["---", *["--:"] * (len(header) - 1)]
    return ["", *(f"| {' | '.join(cells)} |" for cells in (header, rule, *rows)), ""]
