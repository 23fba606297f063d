"""``factory:package.module:function``: a network that the user's own code builds."""

from typing import Any

from decaf.foundation.callables import code_digest, load_callable


def build(name: str, arguments: dict[str, Any]) -> Any:
    """Call the function (or class) with the arguments."""
    return load_callable(name)(**arguments)


def identity(name: str) -> str:
    """Name and digest of the own code: other code may build another network from this name."""
    return f"{name} {code_digest(name)}"
