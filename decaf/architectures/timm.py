"""``timm:NAME``: networks of the timm library."""

from typing import Any

from decaf.errors import UnknownName


def build(name: str, arguments: dict[str, Any]) -> Any:
    """Untrained network; arguments go to ``timm.create_model``."""
    import timm

    if not timm.is_model(name):
        raise UnknownName.among("timm model", name, timm.list_models())
    return timm.create_model(name, pretrained=False, **arguments)


def identity(name: str) -> str:
    """Nothing beyond the name: the library's version is provenance, not identity."""
    return name
