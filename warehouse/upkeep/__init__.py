"""Keep a warehouse small: compaction, retention, garbage."""
