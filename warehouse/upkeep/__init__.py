"""What keeps a warehouse small: compaction, retention, garbage."""
