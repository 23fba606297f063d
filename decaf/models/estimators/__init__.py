"""Estimators in files: how each kind is opened, what it was fitted on, and how it answers."""
