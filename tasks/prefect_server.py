"""Stop ephemeral Prefect servers that a killed flow has left behind.

Without ``PREFECT_API_URL`` a flow starts a server of its own and stops it at its end; a flow that
is killed cannot. Such a server is known by its command line, our ``PREFECT_HOME`` in its
environment, and a parent that is gone.
"""

import os

import psutil

SERVER_MODULE = "prefect.server.api.server"
INIT = 1
GRACE_SECONDS = 5


def stop_orphans() -> int:
    """Terminate the orphaned servers of this project; returns how many there were."""
    orphans = [process for process in psutil.process_iter() if _is_orphan(process)]
    for process in orphans:
        process.terminate()
    _, alive = psutil.wait_procs(orphans, timeout=GRACE_SECONDS)
    for process in alive:
        process.kill()
    return len(orphans)


def _is_orphan(process: psutil.Process) -> bool:
    try:
        return (
            any(SERVER_MODULE in word for word in process.cmdline())
            and process.environ().get("PREFECT_HOME") == os.environ["PREFECT_HOME"]
            and process.ppid() == INIT
        )
    except (psutil.NoSuchProcess, psutil.AccessDenied, psutil.ZombieProcess):
        return False
