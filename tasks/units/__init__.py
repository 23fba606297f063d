"""Units of work: one file a kind, and what they are planned from and computed with."""
