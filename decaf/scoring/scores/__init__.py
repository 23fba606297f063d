"""Score definitions, one per module."""
