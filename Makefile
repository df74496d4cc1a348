# `make demo` and `make test` do everything; both make the environment when it is missing. The demo installs what the
# library needs to run, the tests add the rest.
# On Linux, PyPI has torch with CUDA (3 GB); PIP_EXTRA_INDEX_URL=https://download.pytorch.org/whl/cpu takes the CPU build.
PYTHON  ?= python3
VENV    ?= .venv
BIN     := $(VENV)/bin
INSTALL := $(BIN)/pip install --quiet --disable-pip-version-check -c constraints.txt
RUNTIME := $(VENV)/.runtime
DEV     := $(VENV)/.dev
DOCS    := $(VENV)/.docs

.PHONY: demo test lint bench docs pictures clean

$(RUNTIME): pyproject.toml constraints.txt
	$(PYTHON) -m venv $(VENV)
	$(INSTALL) -e .
	touch $@

$(DEV): $(RUNTIME)
	$(INSTALL) -e '.[dev]'
	touch $@

$(DOCS): $(RUNTIME)
	$(INSTALL) -e '.[docs]'
	touch $@

demo: $(RUNTIME)
	$(BIN)/alfilter fit sample:astronaut --budget 75s --out runs/demo --overwrite
	@echo "Open runs/demo/report.html in a browser."

lint: $(DEV)
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy

# One thread per process: two processes with two threads each only wait for one another. Each takes half of the files,
# so that what a file prepares is mostly prepared once, and helps the other when it is done.
test: lint
	OMP_NUM_THREADS=1 $(BIN)/pytest -n 2 --dist worksteal

bench: $(DEV)
	$(BIN)/python benchmarks/table.py --out bench.md

docs: $(DOCS)
	NO_MKDOCS_2_WARNING=1 $(BIN)/mkdocs build --strict

pictures: $(RUNTIME)
	$(BIN)/python docs/pictures.py overview runs/demo

clean:
	rm -rf $(VENV) build dist site .mypy_cache .pytest_cache .ruff_cache
