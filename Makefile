# Bare `make` lists what you can run.
.DEFAULT_GOAL := help
PYTHON ?= python3.11
VENV := .venv
BIN := $(VENV)/bin
READY := $(VENV)/.ready
FULL := $(VENV)/.full
INSTALL := $(BIN)/python -m pip install --quiet --disable-pip-version-check --constraint constraints.txt --editable
EXTRAS := '.[dev,spark,attack,plotly]'
# Whatever touches a dependency, and a few tests on Spark.
QUICK := tests/test_*.py tests/data tests/engine/test_*.py tests/cli/test_*.py tests/figures \
	tests/cli/verbs/test_anonymize.py tests/cli/verbs/test_cluster.py tests/cli/verbs/test_perturb.py \
	tests/anonymize/test_table*.py tests/anonymize/test_policy.py tests/cluster/kmeans/test_estimator.py \
	tests/perturb/test_transformer.py tests/audit/membership/test_shadow.py

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

# The bounds of pyproject.toml hold at both ends: each end has an environment of its own.
lowest: ## quick tests with the lowest versions that pyproject.toml allows
	$(PYTHON) -m venv --clear .venv-lowest
	$(PYTHON) tools/lowest.py > .venv-lowest/constraints.txt
	.venv-lowest/bin/python -m pip install --quiet --constraint .venv-lowest/constraints.txt --editable $(EXTRAS)
	.venv-lowest/bin/python -m pytest -m "not slow" $(QUICK)

newest: ## quick tests with the newest versions that pyproject.toml allows
	$(PYTHON) -m venv --clear .venv-newest
	.venv-newest/bin/python -m pip install --quiet --editable $(EXTRAS)
	.venv-newest/bin/python -m pytest -m "not slow" $(QUICK)

audit: $(FULL) ## audit all we ship and every broken twin; writes docs/audit.md
	$(BIN)/python bench/audit.py
	$(BIN)/python tools/audit_table.py

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

studio: $(READY) ## the browser studio (not built yet; says so)
	@echo "The studio is not part of this version. 'make demo' writes a page to look at."; exit 1

.PHONY: help demo test slow lowest newest audit check bench docs studio
