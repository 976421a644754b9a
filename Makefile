# The outside commands of the project; `make help` lists them. Each installs what it
# needs first. PYTHON=python3.13 makes all of them use another interpreter, with an
# environment of its own, and Django 6.1.

SHELL := /bin/bash
.DEFAULT_GOAL := help
.NOTPARALLEL:

ifeq ($(origin PYTHON),undefined)
  INTERPRETER := $(shell tools/python.sh)
  VENV ?= .venv
else
  INTERPRETER := $(shell tools/python.sh '$(PYTHON)')
  VENV ?= .venv-$(shell '$(INTERPRETER)' -c 'import sys; print("%d.%d" % sys.version_info[:2])')
endif
ifeq ($(INTERPRETER),)
  $(error No interpreter)
endif

BIN := $(VENV)/bin
PY := $(BIN)/python
FRAGMENTS := find ai_assistant project templates tests -name '*.html' 2>/dev/null

# Compiled files are kept, else each run and each server of a test compiles all anew.
unexport PYTHONDONTWRITEBYTECODE
# Tests wait for servers for a third of their time: one process more than two cores
# have. Who has no test left takes over some of another's.
WORKERS := -n 3 --dist worksteal
# What each part found, so that `make test` can say at its end what failed.
RESULTS := build/tests
# The databases that are made once and copied, of all parts of `make test`.
TEMPLATES := $(CURDIR)/$(RESULTS)/templates
NOTED = --junitxml=$(RESULTS)/$@.xml
# Tests that try very much of a kind, or take seconds. They run without coverage, which
# would double their time: that each line is reached is for the other tests to show.
# Those that share a site or a database server stay together.
BROAD := -m "broad and not faults" -n 3 --dist loadgroup \
  tests/test_postgres.py tests/attacks tests/docs tests/tools/data/oracle \
  $$(grep -rl --include='test_*.py' 'mark\.broad' tests)
# What starts no process and takes no time: `make check` runs it, of one ROOM or of all.
QUICK := not servers and not broad and not long and not browser and not faults
ROOM ?=

# What must be covered whole, by its own tests alone.
CORE := ai_assistant/engine/loop/*,ai_assistant/engine/storage/eventlog.py,ai_assistant/registry.py
CORE_TESTS := tests/loop tests/engine/storage/eventlog tests/test_registry.py
UNIT := -m "not broad and not browser and not faults"
# Python 3.12 and 3.13 tell which lines run at no cost, but of branches only at the cost of
# tracing, which doubles the time. So there `make test` measures lines, and elsewhere the
# core alone, as it does without WHOLE; `make coverage` measures lines and branches of all.
ifdef WHOLE
ifeq ($(shell $(INTERPRETER) -c 'import sys; print((3, 12) <= sys.version_info < (3, 14))'),True)
  MEASURED := COVERAGE_CORE=sysmon COVERAGE_BRANCH=false
endif
endif

.PHONY: help
help: ## list the commands
	@grep -hE '^[a-z-]+:.*##' $(MAKEFILE_LIST) | sed -E 's/:.*## /\t/' | expand -t 12

.PHONY: venv system browser-program
venv:
	@$(INTERPRETER) tools/venv.py $(VENV)
system: venv
	@$(PY) tools/system_packages.py
browser-program: venv
	@$(PY) tools/system_packages.py --browser

.PHONY: run
run: venv ## serve the demo on http://127.0.0.1:8000/admin/ (HOST, PORT, SERVER)
	@exec $(PY) manage.py demo_serve

# --- checks ---

.PHONY: check quick smoke
# What the last changes reach, and of all else a part: all quick tests take six minutes.
ifndef ROOM
check: export TESTS_SHARE := 1
check: export TESTS_QUICK := 4
endif
check: venv ## before each commit, in 4 minutes: lint, quick tests; ROOM=engine for one room
	@rm -rf $(RESULTS)
	@$(MAKE) --no-print-directory --keep-going lint migrations quick $(if $(ROOM),,smoke); \
	  status=$$?; $(PY) tools/failures.py $(RESULTS); exit $$status
quick: venv
	$(BIN)/pytest -m "$(QUICK)" -n $(if $(ROOM),0,2) --dist worksteal $(NOTED) tests/$(ROOM)
smoke: browser-program
	$(BIN)/pytest -m smoke $(NOTED) tests/browser

.PHONY: test
test: export TESTS_TEMPLATES := $(TEMPLATES)
# Of long levels and of lists the part that the last commit chooses: all of them take half
# an hour.
ifndef WHOLE
test: export TESTS_SHARE := 1
endif
# The kills wait for half of their time, and the sites for their browsers: beside them run
# lint and the core, the packages of CopilotKit are fetched, and the tests are compiled,
# which three processes would do three times.
test: venv system ## lint, types, migrations and tests, of long ones a part; WHOLE=1 for all
	@rm -rf $(RESULTS) && mkdir -p $(TEMPLATES)
	@$(PY) -m tests.copilotkit.packages > build/copilotkit.txt 2>&1 & \
	  $(MAKE) --no-print-directory --keep-going lint migrations compiled core > build/lint.txt 2>&1 & lint=$$!; \
	  $(MAKE) --no-print-directory --keep-going kills share; status=$$?; \
	  wait $$lint || status=2; cat build/lint.txt; \
	  $(MAKE) --no-print-directory --keep-going unit broad browser || status=2; \
	  $(PY) tools/failures.py $(RESULTS); exit $$status

.PHONY: lint ruff templates types imports scripts
lint: ruff templates types imports scripts ## lint, types and import contracts only
ruff: venv
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
templates: venv
	$(FRAGMENTS) | xargs -r $(BIN)/djade --check --target-version 5.2
	$(FRAGMENTS) | xargs -r $(BIN)/djlint --lint --quiet
types: venv
	$(BIN)/mypy
imports: venv
	$(BIN)/lint-imports
scripts: venv ## lint, format, types and unit tests of the scripts (needs Node.js)
	@$(PY) tools/scripts.py

.PHONY: migrations
migrations: venv
	$(PY) manage.py makemigrations --check --dry-run

.PHONY: compiled core unit broad browser kills coverage
compiled: venv
	@$(BIN)/pytest -q --collect-only tests > build/compiled.txt
core: venv
	TESTS_SHARE= $(BIN)/pytest -q -n 2 $(NOTED) --cov --cov-report= --cov-fail-under=0 $(CORE_TESTS)
	$(BIN)/coverage report --format=total --include='$(CORE)' --fail-under=100
unit: venv ## unit and integration tests
ifdef MEASURED
	$(MEASURED) $(BIN)/pytest $(UNIT) $(WORKERS) $(NOTED) --cov --cov-report=
	$(BIN)/coverage report > build/coverage.txt
	$(BIN)/coverage report --format=total
else
	$(BIN)/pytest $(UNIT) $(WORKERS) $(NOTED)
endif
coverage: venv ## lines and branches that the unit tests reach, in build/coverage.txt
	$(BIN)/pytest $(UNIT) $(WORKERS) --cov --cov-report=
	$(BIN)/coverage report > build/coverage.txt
	$(BIN)/coverage report --format=total
broad: venv ## attacks, bad input and odd texts, a part of the longest lists
	$(BIN)/pytest $(NOTED) $(BROAD)
browser: system ## tests in a real browser
	$(BIN)/pytest -m browser -n 4 --dist worksteal $(NOTED) tests/browser tests/copilotkit
.PHONY: browsers hosts share
browsers: venv ## twelve things in Firefox and WebKit (firefox-esr, webkit2gtk-driver, xvfb)
	@$(PY) -m pip install -q --upgrade --target build/browsers -r tests/browsers/requirements.txt
	PYTHONPATH=build/browsers $$(which xvfb-run >/dev/null && echo xvfb-run -a) \
	  $(PY) -m pytest -n 0 -W ignore tests/browsers/scenarios.py
hosts: browser-program ## sites of packages that people use: tools make the rows of the page (NAMES)
	@$(PY) -m tests.hosts.packages $(NAMES)
share: browser-program # those of a sixth of the sites that the last commit chooses
	@$(PY) -m tests.hosts.packages --share
kills: system
	$(BIN)/pytest -m faults -n 2 --dist loadfile $(NOTED) $$(grep -rl --include='test_*.py' 'mark\.faults' tests)

# --- documentation, figures and pictures ---

.PHONY: thorough
thorough: system ## the long suites whole: page by page, attacks, lists of bad input
	TESTS_THOROUGH=1 $(BIN)/pytest $(BROAD)
	TESTS_THOROUGH=1 $(BIN)/pytest $(WORKERS) $(addprefix tests/browser/test_,axe.py host_pages.py keys.py owner_themes.py queue.py themes.py truth.py)

.PHONY: docs
docs: venv ## the documentation as a site, in build/docs/
	$(BIN)/sphinx-build -q -W --keep-going -d build/doctrees docs build/docs
	@echo "Open build/docs/index.html"

.PHONY: bench figures faults shots rows
bench: venv ## the benchmark suite, one JSON object a line
	@DJANGO_DEBUG=0 $(PY) -m tests.bench
figures: system ## measure, draw and write docs/benchmarks.md (PARTS, RIVAL)
	@$(PY) -m tests.bench.published $(PARTS) $(RIVAL)
faults: system ## the fault matrix: databases by layers
	@$(PY) -m tests.faults
shots: browser-program ## pictures of every state of the panel, in build/shots/
	@$(PY) -m tests.browser.shots
rows: venv ## rows of docs/features.md without a test
	@$(PY) tools/rows.py

# --- upkeep ---

.PHONY: messages client drawings lock clean
messages: venv ## take the texts into the catalogues of all languages (needs gettext)
	@$(PY) tools/messages.py
client: venv ## write the values of the Python client from the document of the REST API
	@$(PY) -m tools.client
drawings: browser-program ## draw the Mermaid blocks of docs/ that have changed (needs npm)
	@$(PY) -m tools.drawings
LOCK = uv pip compile --quiet --universal --generate-hashes --no-emit-index-url \
  --no-emit-find-links --no-header --no-annotate $(UPGRADE)
lock: ## write the lock files anew; UPGRADE=--upgrade for newer releases (needs uv)
	$(LOCK) --python-version 3.11 -o requirements.txt requirements.in
	$(LOCK) --python-version 3.13 -o requirements-django61.txt requirements-django61.in
clean: ## remove what was built; environments and the database stay
	rm -rf build dist htmlcov staticfiles .coverage .coverage.* .pytest_cache \
	  .mypy_cache .ruff_cache .import_linter_cache .hypothesis
	find ai_assistant project tests tools -name __pycache__ -prune -exec rm -rf {} +
