# Bare `make` lists what you can run.
.DEFAULT_GOAL := help
PYTHON ?= python3.11
VENV := .venv
BIN := $(VENV)/bin
READY := $(VENV)/.ready
FULL := $(VENV)/.full
INSTALL := $(BIN)/python -m pip install --quiet --disable-pip-version-check --constraint constraints.txt --editable

help: ## list the targets
	@awk -F ':.*## ' '/^[a-z]+:.*## / {printf "  make %-8s %s\n", $$1, $$2}' $(MAKEFILE_LIST)

$(READY): pyproject.toml constraints.txt
	@command -v $(PYTHON) >/dev/null || { echo "$(PYTHON) is missing; install it or say: make PYTHON=python3 ..."; exit 1; }
	$(PYTHON) -m venv $(VENV)
	$(INSTALL) '.[dev,docs]'
	@touch $(READY)

$(FULL): $(READY)
	$(INSTALL) '.[dev,docs,spark,attack,plotly]'
	@touch $(FULL)

demo: $(READY) ## the main job on built-in data; leaves shoal-demo/report.html
	$(BIN)/shoal demo --overwrite

test: $(FULL) ## all tests but the long ones
	@sh tools/browser.sh
	$(BIN)/python -m pytest -n 2 --dist loadgroup -m "not slow"

slow: $(FULL) ## the long statistical and stress tests
	$(BIN)/python -m pytest -n 2 --dist loadgroup -m slow

audit: $(FULL) ## audit all we ship and every broken twin; writes docs/audit.md
	$(BIN)/python bench/audit.py
	$(BIN)/python tools/audit_table.py
	$(BIN)/python bench/replay.py
	$(BIN)/python tools/replay_table.py

check: $(READY) ## format, lint, types, import contracts, docs
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .
	$(BIN)/mypy
	$(BIN)/lint-imports
	NO_MKDOCS_2_WARNING=1 $(BIN)/mkdocs build --quiet --strict

bench: $(READY) ## speed, as ratios; writes bench/results/
	$(BIN)/python bench/run.py

docs: $(READY) ## build the documentation into site/
	NO_MKDOCS_2_WARNING=1 $(BIN)/mkdocs build --strict

.PHONY: help demo test slow audit check bench docs
