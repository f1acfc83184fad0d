# The only requirement is Python 3.11 or newer and make; everything else comes from the package index.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
READY := $(VENV)/.ready

.PHONY: run test lint format types browser bench soak clean

run: $(READY)
	$(BIN)/tidings demo --output build/demo

# With a fixed hash seed the generated cases are the same on every run; `make soak` finds new ones.
test: $(READY) lint browser
	PYTHONHASHSEED=0 $(BIN)/python -m pytest -n auto --dist worksteal

# A Chromium for the tests of the console, where there is none and one can be installed; else those tests skip.
browser: $(READY)
	$(BIN)/python -m tests.browser.install

lint: $(READY)
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy

format: $(READY)
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .

bench: $(READY)
	$(BIN)/tidings bench --output bench/results

# Half an hour of new cases; TIDINGS_SOAK_MINUTES says how long instead. `python -m tests.soak --help` has the rest.
# Then kills of each kind on a cluster, with `python -m tests.soak.recovery`, all that is said about clusters, and
# histories of who was told of what: a hundred of whole events, fifty in shards and fifty quad by quad. Two hundred
# kills of a broker, damage to every part of its file, and fifty times as many odd requests to it.
soak: $(READY)
	PYTHONHASHSEED=0 $(BIN)/python -m tests.soak
	$(BIN)/python -m tests.soak.recovery
	$(BIN)/python -m tests.soak.recovery --way shards --kills 20
	$(BIN)/python -m tests.soak.recovery --way chained --kills 20
	TIDINGS_SOAK=1 $(BIN)/python -m pytest -q tests/cluster/test_submit.py tests/cluster/test_standalone.py tests/spark/test_eventcloud.py tests/spark/test_bench.py tests/unit/bench
	TIDINGS_SOAK=1 $(BIN)/python -m pytest -q tests/contract/test_fast.py -k compiler_off
	$(BIN)/python -m tests.soak.broker --kills 200
	TIDINGS_SEEDS=100 $(BIN)/python -m pytest -q tests/broker/test_faults.py -k comes_back
	TIDINGS_HISTORIES=100 $(BIN)/python -m pytest -q tests/spark/test_histories.py
	TIDINGS_HISTORIES=300 TIDINGS_KILLS=20 $(BIN)/python -m pytest -q tests/broker/test_outside.py tests/spark/test_broker.py
	TIDINGS_SOAK=1 $(BIN)/python -m pytest -q tests/broker/test_openapi.py tests/broker/test_fuzz.py

$(READY): pyproject.toml
	$(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --upgrade pip
	$(BIN)/python -m pip install --quiet --editable '.[all,dev]'
	touch $(READY)

clean:
	rm -rf $(VENV) build dist .pytest_cache .mypy_cache .ruff_cache .hypothesis
	find . -name __pycache__ -type d -prune -exec rm -rf {} +
