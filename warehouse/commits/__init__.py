"""Commits: receipts, the files that they name, and the schema version."""
