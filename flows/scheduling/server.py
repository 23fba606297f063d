"""The process of Prefect's server under ``decaf serve``: Prefect's own command line.

It takes the arguments of ``prefect``; a thread of its own collects its garbage.
"""

import runpy

from tasks.prefect.server_process import collect_apart

if __name__ == "__main__":
    collect_apart()
    runpy.run_module("prefect", run_name="__main__", alter_sys=True)
