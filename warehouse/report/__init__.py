"""The audit report: one self-contained HTML file of aggregates, rebuilt from the views."""
