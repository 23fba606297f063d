"""Registries of models: their entries, the gates of a re-audit, and its alerts."""
