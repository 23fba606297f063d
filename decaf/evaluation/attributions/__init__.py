"""Spatial attribution methods, one per module."""
