"""Estimators in files: how each kind is opened and predicts, and the columns of its fit."""
