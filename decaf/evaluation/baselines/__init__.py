"""Baselines of a table's factor, one method per module."""
