# Two commands do everything: `make demo` and `make test`. Both make the environment when it is missing.
PYTHON ?= python3
VENV   ?= .venv
BIN    := $(VENV)/bin
STAMP  := $(VENV)/.installed

.PHONY: demo test lint bench docs pictures clean

$(STAMP): pyproject.toml constraints.txt
	$(PYTHON) -m venv $(VENV)
	$(BIN)/pip install --quiet --disable-pip-version-check -c constraints.txt -e '.[dev]'
	touch $(STAMP)

demo: $(STAMP)
	$(BIN)/alfilter fit sample:astronaut --budget 75s --out runs/demo --overwrite
	@echo "Open runs/demo/report.html in a browser."

lint: $(STAMP)
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy

# One thread a process: two processes with two threads each only wait for one another.
test: lint
	OMP_NUM_THREADS=1 $(BIN)/pytest -n 2

bench: $(STAMP)
	$(BIN)/python benchmarks/step.py
	$(BIN)/python benchmarks/startup.py
	$(BIN)/python benchmarks/wallclock.py

docs: $(STAMP)
	$(BIN)/pip install --quiet --disable-pip-version-check -c constraints.txt -e '.[docs]'
	$(BIN)/mkdocs build --strict

pictures: $(STAMP)
	$(BIN)/python docs/pictures.py overview runs/demo

clean:
	rm -rf $(VENV) build dist site .mypy_cache .pytest_cache .ruff_cache
