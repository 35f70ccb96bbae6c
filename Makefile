# Bare `make` lists what you can run.
.DEFAULT_GOAL := help
PYTHON ?= python3.11
VENV := .venv
BIN := $(VENV)/bin
CORE := $(VENV)/.core
DEV := $(VENV)/.dev
FULL := $(VENV)/.full
PIP := -m pip install --quiet --disable-pip-version-check
INSTALL := $(BIN)/python $(PIP) --constraint constraints.txt --editable
# One thread a process: two workers with a thread for each core wait for one another.
PYTEST := OMP_NUM_THREADS=1 $(BIN)/python -m pytest -n 2 --dist loadgroup

PART ?= 1/1
PASSED := .slow-passed-$(subst /,-of-,$(PART))

help: ## list the targets
	@awk -F ':.*## ' '/^[a-z]+:.*## / {printf "  make %-8s %s\n", $$1, $$2}' $(MAKEFILE_LIST)

# Three stages, so that nobody waits for what he does not use: shoal, what checks it, all optional parts.
$(CORE): pyproject.toml constraints.txt
	@command -v $(PYTHON) >/dev/null || { echo "$(PYTHON) is missing; install it, or run make PYTHON=python3 ..."; exit 1; }
	$(PYTHON) -m venv $(VENV)
	$(INSTALL) .
	@touch $(CORE)

$(DEV): $(CORE)
	$(INSTALL) '.[dev,docs]'
	@touch $(DEV)

$(FULL): $(DEV)
	$(INSTALL) '.[dev,docs,spark,attack,plotly,collector]'
	@touch $(FULL)

demo: $(CORE) ## the main job on built-in data; leaves shoal-demo/report.html
	$(BIN)/shoal demo --overwrite

quick: $(DEV) ## tests for a minute: no Spark, no browser, no statistics
	$(PYTEST) --quick

test: $(FULL) ## all tests but the long ones
	@sh tools/browser.sh
	$(PYTEST) -m "not slow"

# What passed is listed in a file for each part: RESUME=1 goes on with the rest of a run that was stopped,
# of which nothing may be left (pytest's exit code 5).
slow: $(FULL) ## the long tests, within an hour; PART=1/4 for a part, RESUME=1 to go on
	$(if $(RESUME),,rm -f $(PASSED))
	$(PYTEST) -vv -m slow --part $(PART) --passed $(PASSED) $(if $(RESUME),|| test $$? = 5)

# The bounds of pyproject.toml hold at both ends: each end has an environment of its own.
lowest: ## quick tests with the lowest versions that pyproject.toml allows
	$(PYTHON) -m venv --clear .venv-lowest
	$(PYTHON) tools/lowest.py > .venv-lowest/constraints.txt
	.venv-lowest/bin/python $(PIP) --constraint .venv-lowest/constraints.txt --editable '.[dev,spark,attack,plotly]'
	$(subst $(VENV),.venv-lowest,$(PYTEST)) --quick

newest: ## quick tests with the newest versions that pyproject.toml allows
	$(PYTHON) -m venv --clear .venv-newest
	.venv-newest/bin/python $(PIP) --editable '.[dev,spark,attack,plotly]'
	$(subst $(VENV),.venv-newest,$(PYTEST)) --quick

audit: $(FULL) ## audit all we ship and every broken twin; writes docs/audit.md
	$(BIN)/python bench/audit.py
	$(BIN)/python bench/replay.py
	$(BIN)/python tools/audit_table.py
	$(BIN)/python tools/replay_table.py

check: $(DEV) ## format, lint, types, import contracts, docs
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .
	$(BIN)/mypy
	$(BIN)/lint-imports
	NO_MKDOCS_2_WARNING=1 $(BIN)/mkdocs build --quiet --strict

bench: $(DEV) ## speed, as ratios; writes bench/results/
	$(BIN)/python bench/run.py

# The wheel alone, from a folder without sources: the quick tests must pass with what is shipped.
release: $(DEV) ## the wheel, built twice alike, its bill of materials, quick tests on it alone
	$(BIN)/python tools/release.py dist
	$(PYTHON) -m venv --clear .venv-wheel
	.venv-wheel/bin/python $(PIP) --constraint constraints.txt "$$(ls dist/shoal-*.whl)[dev,docs]"
	$(subst $(VENV),.venv-wheel,$(PYTEST)) --quick tests

docs: $(DEV) ## build the documentation into site/
	NO_MKDOCS_2_WARNING=1 $(BIN)/mkdocs build --strict

.PHONY: help demo quick test slow lowest newest audit check bench release docs
