"""Every table of the warehouse as data."""
