"""Committed results on disk: tables as data, atomic commits, SQL views, checks and the report."""
