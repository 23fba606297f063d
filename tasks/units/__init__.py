"""Units of work: one file for each kind, and the shared parts of planning and computing."""
