"""Training recipes: how to make a model that is known to lean on a shortcut."""
