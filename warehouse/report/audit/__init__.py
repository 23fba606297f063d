"""What a study found: its audit, read from the views and shown."""
