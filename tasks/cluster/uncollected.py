"""Stop garbage collection until the fork server has imported its modules, and end it quietly.

Modules stay in memory; searching them for garbage would take a fifth of the time. Libraries whose
modules are not collected at exit, such as triton's, would report them as leaks after the command
has returned; so the server ends without a report.
"""

import atexit
import gc
import os

SERVER = os.getpid()


def _end_server() -> None:
    """End the server; a fork ends with its own exit code."""
    if os.getpid() == SERVER:
        os._exit(0)


gc.disable()
atexit.register(_end_server)  # registered first, so other exit functions run before
