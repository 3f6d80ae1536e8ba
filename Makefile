# Each target makes .venv where it is missing and installs what it needs; no root, no services.
PYTHON ?= $(shell command -v python3.13 || command -v python3.12 || command -v python3.11 || command -v python3)
BIN := .venv/bin

.PHONY: demo test check format docs bench clean
.DEFAULT_GOAL := test

demo: .venv/run
	$(BIN)/faultwise demo

test: .venv/dev check
	$(BIN)/coverage run -m pytest
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

clean:
	rm -rf .venv build dist src/*.egg-info

.venv/run: pyproject.toml
	test -x $(BIN)/python || $(PYTHON) -m venv .venv
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --upgrade pip
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --editable .
	touch $@

.venv/dev: .venv/run
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --group dev
	touch $@
