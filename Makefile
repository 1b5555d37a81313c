# make run   sets everything up and does the main job on the sample
# make serve  sets everything up and opens the pages in a browser; PORT=8080
# make test  sets everything up and runs the tests; with COVERAGE=yes, also measures their coverage
# make peers  downloads the peers' own suites, which make test then runs too
# make results  prints all figures into docs/figures/results.md; takes an hour
# make docs  builds the documentation's site in build/docs
# make release VERSION=0.2.0  tries a release; with CONFIRM=yes, commits and tags it
PYTHON ?= python3
BIN := .venv/bin
PIP := $(BIN)/python -m pip install --quiet --disable-pip-version-check --constraint constraints.txt
SAMPLE := examples/touche-2020-task-1
QUESTION ?= Should teachers get tenure?
PORT ?= 8080
MEASURED := --cov --cov-append --cov-report=term:skip-covered --cov-fail-under=90
# its limits are seconds that a cluster waits, on a machine that does nothing else
ALONE := tests/cluster/test_cluster_faults.py
# compiled kernels and the sample's index stay in this folder, which `make clean` removes
export SICETNON_CACHE ?= $(CURDIR)/.cache/sicetnon

.PHONY: run serve test peers results docs release clean

run: .venv/ready
	$(BIN)/sicetnon run touche-2020-task-1 -i $(SAMPLE)/input -o out --index .cache/sample
	@echo
	$(BIN)/sicetnon search "$(QUESTION)" --index .cache/sample -k 6
	@echo
	$(BIN)/sicetnon evaluate out/run.txt --qrels $(SAMPLE)/relevance.qrels $(SAMPLE)/quality.qrels

serve: .venv/ready-web
	$(BIN)/sicetnon serve --port $(PORT) --open

# The tests start hundreds of processes, which would compile all modules anew without bytecode. They
# wait for servers and browsers during a third of their time, so that two cores are busy with five.
test: .venv/ready-dev
	PYTHONDONTWRITEBYTECODE= $(BIN)/python -m pytest -n 5 --dist worksteal --ignore $(ALONE) \
	  $(if $(filter yes,$(COVERAGE)),--cov --cov-report=)
	PYTHONDONTWRITEBYTECODE= $(BIN)/python -m pytest $(ALONE) $(if $(filter yes,$(COVERAGE)),$(MEASURED))
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy --num-workers 2

# source distributions alone carry tests
peers: .venv/ready-dev
	$(BIN)/python -m pip download --quiet --no-deps --no-binary :all: --dest build/peers \
	  "$$($(BIN)/python -m pip freeze 2>/dev/null | grep '^ir.measures==')"

results: .venv/ready-dev
	$(BIN)/python -m benchmarks.results

docs: .venv/ready-docs
	$(BIN)/python -m sphinx -b html -W --keep-going -q docs build/docs
	@echo "built build/docs/index.html"

release: .venv/ready-release
	$(BIN)/python tools/release.py $(VERSION) $(if $(filter yes,$(CONFIRM)),--confirm)

.venv/bin/python:
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || \
	  { echo "Python 3.11 or newer is needed; set PYTHON=/path/to/python3.11"; exit 1; }
	$(PYTHON) -m venv .venv

.venv/ready: .venv/bin/python pyproject.toml constraints.txt
	$(PIP) --editable .
	@touch $@

.venv/ready-dev: .venv/ready
	$(PIP) --editable ".[dev]"
	@$(PIP) --only-binary :all: --editable ".[peers]" || \
	  echo "the peers have no wheels here; the tests that compare with them are skipped"
	@touch $@

.venv/ready-docs .venv/ready-release .venv/ready-web: .venv/ready-%: .venv/ready
	$(PIP) --editable ".[$*]"
	@touch $@

clean:
	rm -rf .venv .cache out out.index build dist
	find . -name __pycache__ -prune -exec rm -rf {} +
