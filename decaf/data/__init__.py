"""Audited data: pairs of clean inputs, and the store that keeps them."""
