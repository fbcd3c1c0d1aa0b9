# On a machine with Python >= 3.11 and make, each target sets up .venv as needed. `make help` lists them.

# The main job, in two commands: what is trained, and what it is measured against.
DEMO_TRAIN ?= run --preset quick --out runs/demo
DEMO_EVAL ?= run runs/demo/best planner greedy --deals 4000 --out runs/demo/eval --overwrite

PYTHON ?=
PYTHONS := $(if $(PYTHON),$(PYTHON),python3.11 python3.12 python3.13 python3.14 python3 python)
WORKERS ?= 2
ARGS ?=

BROWSERS := chromium chromium-browser google-chrome

VENV := .venv
PY := $(VENV)/bin/python
READY := $(VENV)/.ready
BENCH_READY := $(VENV)/.ready-bench
# Bounds are checked in tests; a read out of range then raises instead of returning what lies there.
PYTEST := NUMBA_BOUNDSCHECK=1 $(PY) -m pytest -n $(WORKERS) --dist worksteal

.DEFAULT_GOAL := help
.PHONY: help setup demo table test browser fast lint check docs bench results clean

help: ## List the targets.
	@awk -F ':.*## ' '/^[a-z]+:.*## /{printf "make %-6s  %s\n", $$1, $$2}' Makefile
	@echo
	@echo "Variables: PYTHON=python3.12 (for a new .venv), WORKERS=4 (processes for tests), ARGS='-k opening' (to pytest)."

setup: $(READY) ## Set up .venv with all that training, evaluation, tests and checks need.

demo: $(READY) ## Train an agent by self-play, then measure it: 13 minutes or so. A stopped demo goes on.
	@if [ -f runs/demo/last/trainer.json ]; then echo "$(PY) -m train resume runs/demo"; $(PY) -m train resume runs/demo; \
	else echo "$(PY) -m train $(DEMO_TRAIN)"; $(PY) -m train $(DEMO_TRAIN); fi
	$(PY) -m eval $(DEMO_EVAL)

table: $(READY) ## Open a game against the strongest agent in the browser.
	$(PY) -m table --against champion

test: $(READY) browser ## Run all tests, with bounds checked in the kernels.
	$(PYTEST) $(ARGS)

browser: ## Install Debian's chromium for the tests of the table's page, where there is no browser and it may.
	@for name in $(BROWSERS); do command -v $$name >/dev/null 2>&1 && exit 0; done; \
	if [ "$$(id -u)" = 0 ] && command -v apt-get >/dev/null 2>&1; then \
		apt-get update -q >/dev/null 2>&1; DEBIAN_FRONTEND=noninteractive apt-get install -y -q --no-install-recommends chromium >/dev/null; \
	fi; \
	for name in $(BROWSERS); do command -v $$name >/dev/null 2>&1 && exit 0; done; \
	echo "No browser found (tried $(BROWSERS)): the tests of the table's page will fail. Install chromium." >&2

fast: $(READY) ## Run the fast tests.
	$(PYTEST) -m "not slow" $(ARGS)

lint: $(READY) ## Check format, lint and types.
	$(VENV)/bin/ruff format --check .
	$(VENV)/bin/ruff check .
	$(VENV)/bin/mypy

check: lint fast ## Check format, lint and types, then run the fast tests.

docs: $(READY) ## Build the pages of docs/ into build/site, strictly.
	NO_MKDOCS_2_WARNING=1 $(PY) -m mkdocs build --strict
	@echo "open build/site/index.html"

bench: $(BENCH_READY) ## Run the benchmarks of README, OpenSpiel and RLCard beside ours, and write benchmarks/results/.
	@mkdir -p benchmarks/results
	$(PY) -m benchmarks.engine --json benchmarks/results/engine.json
	$(PY) -m benchmarks.train --json benchmarks/results/train.json
	$(PY) -m benchmarks.agents --json benchmarks/results/agents.json

results: $(READY) ## Play the runs that docs/results.md tells of, and write it: hours; stopped, it goes on.
	$(PY) -m benchmarks.ladder

clean: ## Remove .venv, caches and built packages; runs/ stays.
	rm -rf $(VENV) build dist .pytest_cache .mypy_cache .ruff_cache .hypothesis
	find . -name __pycache__ -type d -prune -exec rm -rf {} +

# A broken or half-made .venv is made anew; a sound one is brought up to date in place.
$(READY): pyproject.toml constraints.txt
	@rm -f $(READY) $(BENCH_READY)
	@if ! $(PY) -m pip --version >/dev/null 2>&1; then \
		for name in $(PYTHONS); do \
			if "$$name" -c 'import sys; sys.exit(sys.version_info < (3, 11))' >/dev/null 2>&1; then found="$$name"; break; fi; \
		done; \
		if [ -z "$$found" ]; then \
			echo "No Python >= 3.11 found: tried $(PYTHONS). Install one, or name it: make PYTHON=/path/to/python" >&2; exit 2; \
		fi; \
		echo "Setting up $(VENV) with $$("$$found" --version) ($$found)"; \
		"$$found" -m venv --clear $(VENV) || { \
			echo "$$found could not make $(VENV); on Debian and Ubuntu install python3-venv." >&2; exit 2; }; \
	fi
	$(PY) -m pip install -c constraints.txt -e ".[dev]"
	@touch $(READY)

$(BENCH_READY): $(READY)
	$(PY) -m pip install -c constraints.txt -e ".[dev,bench]"
	@touch $(BENCH_READY)
