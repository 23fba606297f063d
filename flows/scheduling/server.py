"""The process of Prefect's server of ``decaf serve``: ``server.py server start ...``, as Prefect's.

It is Prefect's own command, whose garbage a thread of its own collects.
"""

import runpy

from tasks.prefect.server_process import collect_apart

if __name__ == "__main__":
    collect_apart()
    runpy.run_module("prefect", run_name="__main__", alter_sys=True)
