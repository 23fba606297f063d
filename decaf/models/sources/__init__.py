"""Sources of models: what a card (:mod:`decaf.models.card`) is a card of. One module each."""
