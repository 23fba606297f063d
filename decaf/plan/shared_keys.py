"""Keys of ``data:`` that training recipes take over unless they set the keys themselves."""

from functools import cache
from typing import Any

from decaf.data.adapters.base import Adapter
from decaf.foundation.plugins import members, name_of
from decaf.models.recipes.base import EstimatorRecipe, NetworkRecipe


def with_keys_of_data(models: list[Any] | tuple[Any, ...], data: dict[str, Any]) -> list[Any]:
    """Copy keys of the data into the recipes of cards that have such keys."""
    shared = data.keys() & _shared_keys(str(data.get("adapter")))
    return [_with_keys(card, data, shared) for card in models]


def _with_keys(card: Any, data: dict[str, Any], shared: set[str]) -> Any:
    recipe = card.get("training") if isinstance(card, dict) else None
    if not isinstance(recipe, dict):
        return card
    keys = shared & _keys_of_recipe(str(recipe.get("recipe")))
    return card | {"training": {key: data[key] for key in keys} | recipe}


@cache
def _shared_keys(adapter: str) -> set[str]:
    """Keys that an adapter of decaf's own shares with recipes."""
    adapters = {name_of(member): member for member in members(Adapter)}
    return {*getattr(adapters.get(adapter), "shared_with_recipes", ())}


@cache
def _keys_of_recipe(recipe: str) -> set[str]:
    """Keys of a recipe of decaf's own."""
    recipes = {name_of(kind): kind for kind in (*members(EstimatorRecipe), *members(NetworkRecipe))}
    return {*getattr(recipes.get(recipe), "model_fields", ())}
