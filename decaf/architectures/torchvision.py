"""``torchvision:NAME``: classification networks of torchvision."""

from typing import Any

from decaf.errors import UnknownName


def build(name: str, arguments: dict[str, Any]) -> Any:
    """Untrained network; arguments go to the torchvision constructor."""
    from torchvision import models

    if name not in models.list_models(models):
        raise UnknownName.among("torchvision model", name, models.list_models(models))
    return models.get_model(name, weights=None, **arguments)


def identity(name: str) -> str:
    """Nothing beyond the name: the library's version is provenance, not identity."""
    return name
