"""Draws, bootstrap, ranks and discrimination."""
