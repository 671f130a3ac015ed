# Every target does its own set-up: a virtual environment in .venv with what pyproject.toml names.
PYTHON ?= python3
BIN := .venv/bin
SAMPLE ?= resources/samples/rtx-5090.rig
JUDGED := $(addprefix tests/networks/,traced_steps.jsonl traced_random.jsonl traced_kinds.jsonl traced_layers.jsonl traced_widened.jsonl) \
          $(addprefix tests/memory/,measured_memory.jsonl measured_adapters.jsonl largest_batches.jsonl held_memory.jsonl) $(wildcard tests/performance/foreign_speeds/*.jsonl)

.PHONY: run test release lint bench campaign screenshots pages translations rules wheel packages site accuracy setup clean

run: setup
	@$(BIN)/python -m tools.first_run $(SAMPLE)

test: setup lint
	$(BIN)/python -m pytest -q -n 2 --dist worksteal

# A release: every check, every text in every language, the packages, the site, and what goes with them.
release: test .venv/ready-to-ship
	$(BIN)/python -m pytest -q -m release
	$(BIN)/python -m tools.packages
	$(BIN)/python -m tools.site
	$(BIN)/python -m tools.release

lint: setup
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/lint-imports
	$(BIN)/rigplanner catalog lint --quiet
	@$(BIN)/python -m tools.gather_texts --missing

bench: setup
	$(BIN)/python -m tools.bench

campaign: setup
	QT_QPA_PLATFORM=offscreen nice $(BIN)/python -m tools.campaign

pages: setup
	$(BIN)/python -m tools.page_pictures

screenshots: setup
	QT_QPA_PLATFORM=offscreen $(BIN)/python -m rigplanner.desktop.screenshots docs/pictures

accuracy: setup
	$(BIN)/rigplanner validate $(JUDGED) $(CASES) --write docs/accuracy.md
	$(BIN)/python -m tools.memory_left_out tests/memory/measured_memory.jsonl --bounds

translations: setup
	$(BIN)/python -m tools.gather_texts

rules: setup
	$(BIN)/python -c 'import sys; from rigplanner.report.rule_book import rule_book; sys.stdout.write(rule_book())' > docs/rules.md

wheel: setup
	$(BIN)/python -m hatchling build -t wheel

# What people install: built here as far as this system can, each line says what was built or why not.
packages: .venv/ready-to-ship
	$(BIN)/python -m tools.packages

# The documentation as static pages in build/site.
site: .venv/ready-to-ship
	$(BIN)/python -m tools.site

setup: .venv/ready
	@tools/system-libraries.sh

.venv/ready: pyproject.toml
	@$(PYTHON) -c 'import sys; sys.exit(0 if sys.version_info >= (3, 11) else "RigPlanner needs Python 3.11 or later; name one with make PYTHON=python3.12")'
	@$(PYTHON) -c 'import venv, ensurepip' 2>/dev/null || \
	  { [ "$$(id -u)" = 0 ] && command -v apt-get >/dev/null && \
	    { apt-get install -y -qq python3-venv >/dev/null 2>&1 || { apt-get update -qq && apt-get install -y -qq python3-venv >/dev/null; }; }; } || \
	  { echo "Python's venv module is missing. Debian, Ubuntu: sudo apt-get install python3-venv   Fedora: sudo dnf install python3"; exit 1; }
	$(PYTHON) -m venv .venv
	$(BIN)/python -m pip install --quiet --upgrade pip
	$(BIN)/python -m pip install --quiet --editable '.[dev]'
	@touch $@

.venv/ready-to-ship: .venv/ready
	$(BIN)/python -m pip install --quiet --editable '.[dev,ship]'
	@touch $@

clean:
	rm -rf .venv dist build out .mypy_cache .ruff_cache .pytest_cache .hypothesis
