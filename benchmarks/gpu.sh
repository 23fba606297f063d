#!/usr/bin/env bash
# Sets the project up on a machine that has python3, make and the driver of a GPU, then tests and
# measures it within 20 minutes and writes gpu.json and gpu.md beside this file.
# Run: bash benchmarks/gpu.sh [FOLDER], a new one for what the parts print
set -euo pipefail
cd "$(dirname "$0")/.."

make setup
.venv/bin/uv pip install -q --python .venv/bin/python "dask-cuda>=25.8"
exec .venv/bin/python benchmarks/gpu.py "${1:-runs/gpu-$(date +%Y%m%d-%H%M%S)}"
