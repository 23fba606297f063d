"""Sources of models, each with its card (:mod:`decaf.models.card`). One module each."""
