"""Places of a page: its study, model, pair type and path, each with its siblings."""

from typing import NamedTuple

from decaf.foundation.number_text import score_text
from flows.view.addresses import Address
from flows.view.snapshot import Record, Snapshot
from flows.view.tables import bar_of, read_study, scale_of

PLACES = ("study", "entry", "model_id", "pair_type", "path")


class Sibling(NamedTuple):
    """Another choice at one place; a model has a bar of its E, C and F, and their sum in words."""

    text: str
    link: str
    is_current: bool = False
    bar: list[tuple[str, float]] | None = None
    value: str = ""


class Crumb(NamedTuple):
    """One place, shown as a menu of its siblings, or as a link without siblings."""

    text: str
    link: str
    siblings: list[Sibling]


def crumbs_of(snapshot: Snapshot, address: Address) -> list[Crumb]:
    """Places that an address names, from the study on."""
    makers = (_study, _entry, _model, _pair_type, _path)
    return [
        make(snapshot, address)
        for place, make in zip(PLACES, makers, strict=True)
        if place in address.fixed_values
    ]


def _study(snapshot: Snapshot, address: Address) -> Crumb:
    study = address.fixed_values["study"]
    page = "runs" if address.page == "runs" else "models"
    links = {name: Address(page, {"study": name}).link() for name in snapshot.studies()}
    siblings = [Sibling(name, link, name == study) for name, link in links.items()]
    link = Address(page, {"study": study}).link()
    return Crumb(study, link, siblings if len(siblings) > 1 else [])


def _entry(snapshot: Snapshot, address: Address) -> Crumb:
    entry, study = address.fixed_values["entry"], address.fixed_values.get("study")
    if study is None:
        return Crumb(entry, address.link(), [])
    every = Sibling("all entries", Address("entries", {"study": study}).link())
    names = [row["entry"] for row in read_study(snapshot, "entries", study)]
    links = {name: address.with_fixed_values(entry=name).link() for name in names}
    return Crumb(
        entry,
        every.link,
        [every, *(Sibling(name, link, name == entry) for name, link in links.items())],
    )


def _model(snapshot: Snapshot, address: Address) -> Crumb:
    model, study = address.fixed_values["model_id"], address.fixed_values.get("study")
    if study is None:
        return Crumb(model, address.link(), [])
    up = Sibling("all its responses", _of(address, "responses", "study", "model_id").link())
    sizes = _sizes(snapshot, address)
    scale = scale_of(snapshot, study, [row["abs_response"] for row in sizes.values()])
    siblings = [up]
    for name in snapshot.models_of(study):
        row = sizes.get(name)
        siblings.append(
            Sibling(
                snapshot.display_name(study, "model_id", name),
                _same_page(address, model_id=name).link(),
                name == model,
                bar_of(row, scale) if row else None,
                score_text(row["abs_response"]) if row else "",
            )
        )
    return Crumb(snapshot.display_name(study, "model_id", model), up.link, siblings)


def _sizes(snapshot: Snapshot, address: Address) -> dict[str, Record]:
    """Mean responses of models to the pair type of an address; empty without a pair type.

    They are on the path of the address, or on the path with the largest response of the model.
    """
    fixed_values = {
        name: address.fixed_values[name]
        for name in ("pair_type", "path")
        if name in address.fixed_values
    }
    if "pair_type" not in fixed_values:
        return {}
    rows = read_study(snapshot, "responses", address.fixed_values["study"])
    fitting = [row for row in rows if fixed_values.items() <= row.items()]
    return {row["model_id"]: row for row in sorted(fitting, key=lambda row: row["abs_response"])}


def _pair_type(snapshot: Snapshot, address: Address) -> Crumb:
    return _place(snapshot, address, "pair_type", "all pair types")


def _path(snapshot: Snapshot, address: Address) -> Crumb:
    return _place(snapshot, address, "path", "all paths")


def _place(snapshot: Snapshot, address: Address, place: str, every: str) -> Crumb:
    study, name = address.fixed_values.get("study", ""), address.fixed_values[place]
    text = snapshot.display_name(study, place, name)
    up = _same_page(address, **{place: None})
    if address.page == "trajectory":
        # A pair has one type, and its own page on each path.
        up = _of(address, "pairs", *PLACES[: PLACES.index(place) + 1])
        every = "all its pairs"
        if place == "pair_type":
            return Crumb(text, up.link(), [])
    siblings = [
        Sibling(
            row["display_name"],
            _same_page(address, **{place: row["name"]}).link(),
            row["name"] == name,
        )
        for row in snapshot.names_of(study, place)
    ]
    return Crumb(text, up.link(), [Sibling(every, up.link()), *siblings])


def _same_page(address: Address, **values: str | None) -> Address:
    """The same page about other values; the address of a trajectory has no pair type."""
    if address.page == "trajectory":
        values = {"pair_type": None, **values}
    return address.with_fixed_values(**values)


def _of(address: Address, page: str, *places: str) -> Address:
    """Another page, about some of the places of an address."""
    return Address(
        page, {name: address.fixed_values[name] for name in places if name in address.fixed_values}
    )
