"""Conditions of a machine that a command may meet, set up in its process before it begins.

Root can mount folders and ignores access rights; other users skip tests that need root.
"""

import ctypes
import errno
import fcntl
import os
import resource
import shutil
import sys
import tempfile
from pathlib import Path

NEW_MOUNTS, BIND, REMOUNT, READ_ONLY, PRIVATE = 0x20000, 0x1000, 0x20, 0x1, 0x44000
CAPABILITIES_VERSION = 0x20080522
_libc = ctypes.CDLL(None, use_errno=True)


def brought_about(text):
    """Set up named conditions: ``read_only=/folder closed_stdin``."""
    for word in text.split():
        name, _, value = word.partition("=")
        globals()[name](*([value] if value else []))


def read_only(folder):
    """Make a folder read-only for every user."""
    _mount(folder, folder, None, BIND)
    _mount(None, folder, None, BIND | REMOUNT | READ_ONLY)


def full(folder):
    """The folder is a disk of its own without any room."""
    folder = Path(folder)
    with tempfile.TemporaryDirectory() as kept:
        shutil.copytree(folder, kept, dirs_exist_ok=True)
        _mount("tmpfs", folder, "tmpfs", 0, b"size=8m")
        shutil.copytree(kept, folder, dirs_exist_ok=True)
    with (folder / "ballast").open("wb", buffering=0) as ballast:
        while _took(ballast, bytes(4096)):
            pass


def _took(file, content):
    try:
        return file.write(content)
    except OSError:
        return 0


def unprivileged():
    """Permissions hold for root too."""
    nothing = (ctypes.c_uint32 * 6)()
    _called(_libc.capset((ctypes.c_uint32 * 2)(CAPABILITIES_VERSION, 0), nothing))


def umask(mask):
    """Rights that new files do not get."""
    os.umask(int(mask, 8))


def without_locks():
    """The file system knows no flock, as some of a network do."""
    fcntl.flock = _refusing(errno.ENOLCK)


def without_flush():
    """The file system knows no fsync."""
    os.fsync = _refusing(errno.EINVAL)


def closed_stdin():
    """As `<&-` of a shell, or a service."""
    os.close(0)


def folder_gone(folder):
    """The folder that the command was called in is deleted."""
    Path(folder).mkdir()
    os.chdir(folder)
    Path(folder).rmdir()


def open_files(count):
    """So many files may be open at once."""
    resource.setrlimit(resource.RLIMIT_NOFILE, (int(count),) * 2)


def ascii_terminal():
    """Streams of the locale C."""
    for stream in (sys.stdout, sys.stderr):
        stream.reconfigure(encoding="ascii", errors="strict")


def without_package(name):
    """It is not installed."""
    for loaded in [one for one in sys.modules if one.partition(".")[0] == name]:
        del sys.modules[loaded]
    sys.modules[name] = None


def _refusing(number):
    def refuse(*_):
        raise OSError(number, os.strerror(number))

    return refuse


def _mount(source, target, kind, flags, options=None):
    """Mount for this process and its children alone."""
    _called(_libc.unshare(NEW_MOUNTS))
    _called(_libc.mount(None, b"/", None, PRIVATE, None))
    words = [None if word is None else os.fsencode(word) for word in (source, target, kind)]
    _called(_libc.mount(*words, flags, options))


def _called(result):
    if result:
        number = ctypes.get_errno()
        raise OSError(number, os.strerror(number))


def can_mount():
    """True if a process of this machine may make private mounts."""
    child = os.fork()
    if child == 0:
        os._exit(bool(_libc.unshare(NEW_MOUNTS)))
    return os.waitpid(child, 0)[1] == 0
