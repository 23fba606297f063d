"""Covertype with two appended channels, context and factor (paper, section 5, appendix I)."""
