VENV := .venv
PYTHON := $(VENV)/bin/python
INSTALL = $(VENV)/bin/uv pip install -q --python
# Where Python is told not to write bytecode, each process of a test would compile decaf again.
TESTED = env -u PYTHONDONTWRITEBYTECODE $(PYTHON) -m pytest -n 2 --dist loadfile --no-loadscope-reorder --durations 30 --durations-min 5
COMPILE = $(VENV)/bin/uv pip compile -q packaging/requirements.in --python-version 3.11 --no-header \
	--no-annotate --no-emit-package decaf-audit --no-emit-package decaf-audit-pipeline

.PHONY: setup demo test test-slow docs lock clean
.PRECIOUS: .venv-%/.ready

# Pins without addresses, installed through uv: plain pip could pick another build of torch. Compiled
# at once: uv leaves that to the first import, and no process would do it where Python is told not to
# write bytecode; importing torch then takes three times as long, in every worker.
$(VENV)/.ready: requirements.lock pyproject.toml
	python3 -m venv $(VENV)
	$(VENV)/bin/pip install -q uv==0.13.8
	$(INSTALL) $(PYTHON) --compile-bytecode -r requirements.lock
	$(INSTALL) $(PYTHON) --no-deps --no-build-isolation -e .
	$(PYTHON) -m compileall -q decaf flows tasks warehouse
	touch $@

# The hook checks the subjects of commits; a hooks path that you have set stays.
setup: $(VENV)/.ready
	@[ ! -e .git ] || git config core.hooksPath > /dev/null || git config core.hooksPath .githooks

demo: setup
	$(VENV)/bin/decaf run configs/scenes/demo.yaml

test: setup
	$(VENV)/bin/ruff check .
	$(VENV)/bin/ruff format --check .
	$(VENV)/bin/mypy --num-workers 2
	$(TESTED) -m "not slow"

test-slow: setup
	$(TESTED) -m slow

docs: setup
	$(PYTHON) docs/make_site.py runs/site

# Beside MLflow 3 (mlflow), and with the oldest packages that the ranges allow (lowest): both wheels,
# installed as a user has them. Warnings of other versions than the pinned ones are no errors.
.venv-%/.ready: requirements-%.lock | setup
	python3 -m venv .venv-$*
	$(INSTALL) .venv-$*/bin/python --compile-bytecode -r $<
	touch $@

wheels-%: .venv-%/.ready
	$(INSTALL) .venv-$*/bin/python --no-deps --no-build-isolation --reinstall . ./packaging/pipeline

test-%: wheels-%
	.venv-$*/bin/pytest -n 2 --dist loadfile --no-loadscope-reorder -o filterwarnings= $(or $(TESTS),tests)

smoke-%: wheels-%
	.venv-$*/bin/pytest -o filterwarnings= "tests/decaf/library/test_library.py" -k README
	folder=$$(mktemp -d) && cd $$folder && $(CURDIR)/.venv-$*/bin/decaf run \
		$(CURDIR)/configs/scenes/demo.yaml && rm -r $$folder

lock:
	$(COMPILE) -o requirements.lock
	$(COMPILE) --upgrade --resolution lowest-direct -o requirements-lowest.lock
	printf 'mlflow==3.17.2\nonnx\nonnxruntime\n' | $(COMPILE) - -o requirements-mlflow.lock

clean:
	rm -rf runs
