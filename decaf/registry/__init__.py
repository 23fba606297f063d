"""Registries of models: what they list, the gates of a re-audit, and its alerts."""
