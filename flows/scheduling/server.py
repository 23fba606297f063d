"""The process of Prefect's server under ``decaf serve``: Prefect's own command line.

It takes the arguments of ``prefect``; a separate thread collects its garbage.
"""

import gc
import itertools
import runpy
import threading
import time

COLLECT_SECONDS = 1
FULL_COLLECTION_EVERY = 600
"""Collections until one also covers old objects, which takes a fifth of a second."""


def collect_apart() -> None:
    """Collect garbage in a separate thread, and in no other thread.

    A statement that SQLite refuses leaves its cursor behind, as garbage. The thread that frees the
    cursor waits for the thread that uses its connection, which waits up to a minute for the lock of
    a transaction. If the event loop frees the cursor, the transaction cannot end, and the server
    hangs for that minute.
    """
    gc.disable()
    threading.Thread(target=_collect, name="collect garbage", daemon=True).start()


def _collect() -> None:
    for count in itertools.count(1):
        time.sleep(COLLECT_SECONDS)
        gc.collect(1 if count % FULL_COLLECTION_EVERY else 2)


if __name__ == "__main__":
    collect_apart()
    runpy.run_module("prefect", run_name="__main__", alter_sys=True)
