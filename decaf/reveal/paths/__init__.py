"""Reveal paths, one per module."""
