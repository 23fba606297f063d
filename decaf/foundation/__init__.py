"""Foundations of all rooms: settings, plug-ins, files, digests and arrays."""
