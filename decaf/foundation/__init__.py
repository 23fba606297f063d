"""What everything stands on: settings, plug-ins, files, digests and arrays."""
