"""The whole audit as one call on arrays, :func:`decaf.audit`, and its result."""
