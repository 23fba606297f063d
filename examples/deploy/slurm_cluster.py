"""Audit a study on workers that SLURM starts.

Where decaf and dask-jobqueue are installed, on a login node::

    python slurm_cluster.py study.yaml

The study has ``cluster: {kind: address, address: "tcp://LOGIN-NODE:8786"}``, its workspace and
weights on a disk that all nodes see, and its warehouse there or on an object store.
"""

import shutil
import subprocess
import sys

from dask_jobqueue import SLURMCluster

WORKER_JOB = {
    "queue": "gpu",
    "cores": 1,  # a block at a time: torch has threads of its own
    "processes": 1,
    "memory": "16GB",
    "walltime": "04:00:00",
    "job_extra_directives": ["--gres=gpu:1"],
    # Workers leave before SLURM ends their jobs, and not all at once.
    # No memory limit: Dask would pause a worker, which then stalls.
    "worker_extra_args": [
        "--memory-limit",
        "0",
        "--no-dashboard",
        "--lifetime",
        "225m",
        "--lifetime-stagger",
        "10m",
    ],
    "job_script_prologue": ["source .venv/bin/activate"],
    "scheduler_options": {"port": 8786, "dashboard": False},
}
MOST_JOBS = 16


def main(study: str) -> int:
    """Keep as many jobs as there is work for while the study is audited; its exit code."""
    with SLURMCluster(**WORKER_JOB) as cluster:
        cluster.adapt(minimum_jobs=1, maximum_jobs=MOST_JOBS)
        decaf = shutil.which("decaf") or "decaf"
        return subprocess.run([decaf, "run", study], check=False).returncode


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
