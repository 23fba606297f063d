"""What changed in a registry: verdicts, drift and history."""
