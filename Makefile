# make run    set up if needed, then open the dashboard
# make test   set up if needed, then check style, types and behaviour
# make check  the quick half of it, for every change: style, types, and the tests that take no time
# make fuzz   open many more damaged files (make fuzz CASES=100000)
# make bench  measure, and print the figures (make bench SLOW=--slow: hours, size and power too)
# make clean  back to a fresh checkout

PYTHON ?= python3
BIN := .venv/bin
BROWSERS := chromium chromium-browser google-chrome google-chrome-stable

# Every process that is started would compile all that it imports anew: three seconds a worker.
unexport PYTHONDONTWRITEBYTECODE

.PHONY: run test check fuzz bench setup style compiled browser clean

run: .venv/installed
	@$(BIN)/smdp dashboard

# Neighbouring tests stay on one worker, so that what they share is made once. A thread each: more
# would wait for one another.
PYTEST := OMP_NUM_THREADS=1 OPENBLAS_NUM_THREADS=1 $(BIN)/python -m pytest -n 2 --dist worksteal

test: setup browser
	@$(MAKE) --no-print-directory -j 2 style compiled
	$(PYTEST)

check: setup
	@$(MAKE) --no-print-directory -j 2 style compiled
	$(PYTEST) -m "not slow"

style: setup
	$(BIN)/ruff check
	$(BIN)/ruff format --check
	$(BIN)/mypy

# On a fresh checkout as long as the types take, on another processor.
compiled: .venv/compiled

.venv/compiled: .venv/developing $(wildcard smdp/feature_map/adnn/*.py) smdp/policy/rule_search.py
	@OMP_NUM_THREADS=1 OPENBLAS_NUM_THREADS=1 $(BIN)/python tests/compile_once.py
	@touch $@

CASES ?= 20000
fuzz: setup
	SMDP_FUZZ_CASES=$(CASES) SMDP_FUZZ_SEED=$$(date +%s) $(BIN)/python -m pytest -s tests/fuzz

bench: setup browser
	@$(BIN)/python -m bench $(SLOW)

# To use it, what it needs; to change it, also what tests it.
setup: .venv/developing

# Without --no-compile, half of the time goes to files that are never imported.
INSTALL := $(BIN)/python -m pip install --quiet --disable-pip-version-check --no-compile \
	-c constraints.txt

.venv/developing: .venv/installed
	$(INSTALL) -e '.[dev]'
	@touch $@

.venv/installed: pyproject.toml constraints.txt
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || { \
		echo "smdp needs Python 3.11 or later, but $(PYTHON) is $$($(PYTHON) --version 2>&1)." \
			"Name a later one: make PYTHON=python3.12"; exit 1; }
	$(PYTHON) -m venv .venv
	$(INSTALL) -e .
	@touch $@

browser:
	@for name in $(BROWSERS); do command -v $$name >/dev/null && exit 0; done; \
	if [ "$$(id -u)" = 0 ] && command -v apt-get >/dev/null; then \
		apt-get update -q && apt-get install -yq --no-install-recommends chromium; \
	else \
		echo "No Chromium was found, so whatever needs a browser is skipped." \
			"Install it, on Debian with: sudo apt-get install chromium"; \
	fi

clean:
	rm -rf .venv build dist .pytest_cache .mypy_cache .ruff_cache .hypothesis
	find . -name __pycache__ -type d -prune -exec rm -rf {} +
