VENV := .venv
PYTHON := $(VENV)/bin/python

.PHONY: setup demo test lock clean

# Pins without addresses, installed through uv: plain pip could pick another build of torch. Compiled
# at once: uv leaves that to the first import, and no process would do it where Python is told not to
# write bytecode; importing torch then takes three times as long, in every worker.
$(VENV)/.ready: requirements.lock pyproject.toml
	python3 -m venv $(VENV)
	$(VENV)/bin/pip install -q uv==0.13.8
	$(VENV)/bin/uv pip install -q --compile-bytecode --python $(PYTHON) -r requirements.lock
	$(VENV)/bin/uv pip install -q --python $(PYTHON) --no-deps --no-build-isolation -e .
	$(PYTHON) -m compileall -q decaf flows tasks warehouse
	touch $@

setup: $(VENV)/.ready

demo: setup
	$(VENV)/bin/decaf run configs/scenes/demo.yaml

test: setup
	$(VENV)/bin/ruff check .
	$(VENV)/bin/ruff format --check .
	$(PYTHON) -m pytest -n 2 --dist loadfile --no-loadscope-reorder --durations 30 --durations-min 5

lock:
	$(VENV)/bin/uv pip compile -q pyproject.toml --extra dev --python-version 3.11 \
		--no-header --no-annotate -o requirements.lock

clean:
	rm -rf runs
