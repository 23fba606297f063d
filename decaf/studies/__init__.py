"""One folder a study; no other room imports one by name."""
