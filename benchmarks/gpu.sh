#!/usr/bin/env bash
# Everything that a GPU is asked for, with one command on a machine that has python3, make and a
# driver: sets the project up, tests it, measures it, and writes gpu.json and gpu.md, in 20 minutes.
# Run: bash benchmarks/gpu.sh [FOLDER of what the parts print]
set -euo pipefail
cd "$(dirname "$0")/.."

make setup
.venv/bin/uv pip install -q --python .venv/bin/python "dask-cuda>=25.8"
exec .venv/bin/python benchmarks/gpu.py "${1:-runs/gpu-$(date +%Y%m%d-%H%M%S)}"
