"""Draws, bootstrap, ranks, discrimination and bins."""
