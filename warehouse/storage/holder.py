"""Describe the holder of a lock in the lock's content."""

import json
import os
import socket
from datetime import UTC, datetime


def this_process() -> dict[str, str | int]:
    """Content of a lock that this process holds."""
    return {
        "process": os.getpid(),
        "host": socket.gethostname(),
        "since": datetime.now(UTC).isoformat(timespec="seconds"),
    }


def is_gone(content: bytes) -> bool:
    """True if the holder was a process of this machine and has ended."""
    try:
        holder = json.loads(content)
        if holder["host"] == socket.gethostname():
            os.kill(holder["process"], 0)
    except ProcessLookupError:
        return True
    except (ValueError, KeyError, TypeError, PermissionError):
        return False
    return False


def describe_holder(content: bytes) -> str:
    """Describe the holder for messages."""
    try:
        holder = json.loads(content)
        until = f", at most until {holder['until']}" if "until" in holder else ""
        return f"process {holder['process']} on {holder['host']} since {holder['since']}{until}"
    except (ValueError, KeyError, TypeError):
        return "by a process that has just started"
