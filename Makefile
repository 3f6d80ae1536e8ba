# Each target makes .venv where it is missing and installs what it needs; no root, no services.
# the first interpreter that really runs and is new enough; a version manager's shim may be neither
PYTHON ?= $(shell for one in python3 python3.13 python3.12 python3.11 python; do \
	$$one -c 'import sys; sys.exit(sys.version_info < (3, 11))' 2>/dev/null && echo $$one && break; done)
BIN := .venv/bin

.PHONY: demo test check format docs bench soak chaos fuzz clean
.DEFAULT_GOAL := test

demo: .venv/run
	$(BIN)/faultwise demo

test: .venv/dev check
	$(BIN)/pytest -n auto --dist loadfile --cov --cov-report=
	$(BIN)/coverage report --include='dsl/*,engine/*,*/dsl/*,*/engine/*' --fail-under=95
	$(BIN)/faultwise check --strict
	$(BIN)/faultwise test

check: .venv/dev
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .
	$(BIN)/mypy

format: .venv/dev
	$(BIN)/ruff format .
	$(BIN)/ruff check --fix .

docs: .venv/dev
	$(BIN)/python docs/generate.py

bench: .venv/dev
	$(BIN)/python tests/bench/run.py

fuzz: .venv/dev
	$(BIN)/python tests/fuzz/run.py

soak: .venv/dev
	$(BIN)/python tests/bench/soak.py $(ARGS)

chaos: .venv/dev
	$(BIN)/python tests/bench/chaos.py $(ARGS)

clean:
	rm -rf .venv build dist src/*.egg-info

.venv/run: pyproject.toml
	@test -n "$(PYTHON)" || { echo "Faultwise needs Python 3.11 or newer"; exit 1; }
	test -x $(BIN)/python || $(PYTHON) -m venv .venv
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --upgrade pip
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --editable .
	touch $@

.venv/dev: .venv/run
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --group dev
	touch $@
