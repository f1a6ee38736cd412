# Everything that developers and CI do is a target here; CONTRIBUTING.md lists them.
GO      ?= go
BIN     := bin/catena
DATA    ?= data
ADDR    ?= 127.0.0.1:8080
VERSION ?= $(shell git describe --tags --always --dirty 2>/dev/null || echo dev)
COMPILE  = CGO_ENABLED=0 $(GO) build -ldflags "-s -w -X main.version=$(VERSION)"
export GOTOOLCHAIN := local
# Everywhere, so that packages are compiled once for the binary, the linters and the programs that tests start, and once for the race detector.
export GOFLAGS := -trimpath

.PHONY: pages flows paces deb delivered upgrade release run build test postgres nodes check lint survey bench questions peers plain churn chart fuzz fault simulation soak golden client clean assets

run: build ## build, start with demo content, print where to look
	$(BIN) init --demo --data $(DATA)
	$(BIN) serve --addr $(ADDR) --data $(DATA)

build: assets
	@mkdir -p bin
	$(COMPILE) -o $(BIN) ./cmd/catena

PLATFORMS ?= linux/amd64 linux/arm64 darwin/amd64 darwin/arm64
RELEASE := bin/release
release: build ## binaries of PLATFORMS with checksums and the list of components (CycloneDX), in bin/release
	rm -rf $(RELEASE) && mkdir -p $(RELEASE)
	set -e; for p in $(PLATFORMS); do \
	  f=$(RELEASE)/catena-$(VERSION)-$${p%/*}-$${p#*/}; \
	  GOOS=$${p%/*} GOARCH=$${p#*/} $(COMPILE) -o $$f ./cmd/catena; \
	done
	$(BIN) version --sbom > $(RELEASE)/catena-$(VERSION).cdx.json
	cd $(RELEASE) && sha256sum catena-* > SHA256SUMS

DEB_ARCH ?= $(shell $(GO) env GOARCH)
deb: assets ## a package for Debian and Ubuntu with the unit of systemd, for DEB_ARCH (amd64, arm64), in bin
	@mkdir -p bin
	GOOS=linux GOARCH=$(DEB_ARCH) $(COMPILE) -o bin/deb-catena ./cmd/catena
	deploy/deb/build bin/deb-catena $(VERSION) $(DEB_ARCH) bin
	rm bin/deb-catena

delivered: ## the manifests of Kubernetes by the types and the pod security standards of its API, and the Dockerfile by the parser and rules of BuildKit
	cd cmd/catena/testdata/delivered && $(GO) run . $(CURDIR)/deploy/kubernetes/catena.yaml $(CURDIR)/deploy/Dockerfile

assets: decks/theme/dist/reveal.js rest/web/dist/editor.js ## what browsers need of npm packages, which is built into the binary: slides, and the editor of scripts

decks/theme/dist/reveal.js: decks/theme/npm/package-lock.json decks/theme/npm/gather.js
	@command -v npm >/dev/null || { echo "npm is missing: it fetches reveal.js, which the pages of decks need"; exit 1; }
	cd decks/theme/npm && npm ci --no-audit --no-fund --ignore-scripts && node gather.js
	@touch $@

rest/web/dist/editor.js: rest/web/npm/package-lock.json rest/web/npm/bundle.mjs rest/web/npm/editor.mjs
	@command -v npm >/dev/null || { echo "npm is missing: it fetches CodeMirror, the editor of scripts"; exit 1; }
	cd rest/web/npm && npm ci --no-audit --no-fund --ignore-scripts && node bundle.mjs
	@touch $@

# What takes longest begins first, so that the end is not one package alone. Three at a time, for
# tests wait for browsers, disks and other processes as much as they compute.
# A program with the race detector waits a second before it ends, unless told otherwise, for reports that are being written.
# Linking without tables for debuggers takes half the time, and a suite of 160 packages links a lot.
SUITE := $(GO) test -ldflags=-w -vet=off -shuffle=on
LONG := ./cmd/catena ./rest ./decks/export ./decks/render ./storage/badger ./storage ./ops ./scripts

# Tests that compute for long in one goroutine are in files computing_test.go, which are not built with the race detector: it has nothing to
# find in them, and makes them five to ten times as long.
COMPUTING = $(shell find . -name node_modules -prune -o -name computing_test.go -print)
COMPUTING_TESTS = $(shell grep -ho '^func Test[A-Za-z0-9]*' $(COMPUTING) | cut -c6- | paste -sd '|')

test: build client ## the whole suite, race detector on; make lint vets
	GORACE=atexit_sleep_ms=100 $(SUITE) -race -p 3 -timeout 40m $(LONG) $$($(GO) list ./... | grep -v /cmd/questions)
	CGO_ENABLED=0 $(NODES) -skip '^TestBrowser' $(ACROSS) # make nodes has the browsers, too
	CGO_ENABLED=0 $(NODES) ./ops/drive # its feed waits for all transactions of a database server, so it has one of its own
	CGO_ENABLED=0 $(CLIENTS)
	CGO_ENABLED=0 $(SUITE) -run '^($(COMPUTING_TESTS))$$' $(dir $(COMPUTING))
	CGO_ENABLED=0 $(SUITE) ./engine/worker ./engine/pdf ./cmd/simulation ./cmd/questions # a confined process has no memory for the race detector; with it, 500 seeds and compiling SQLite take too long

postgres: build client ## the suites of operations, scripts, decks and REST on PostgreSQL instead of a store in memory
	$(GO) run ./storage/postgres/pgtest/run $(SUITE) -p 1 -timeout 60m ./engine/... ./chains ./decks ./ops/... ./scripts ./rest

NODES := TEST_STORE=nodes $(GO) run ./storage/postgres/pgtest/run $(SUITE) -p 2 -timeout 30m
ACROSS := ./rest ./ops ./ops/workflow ./decks/export ./rest/mcp
CLIENTS := $(NODES) -run '^Test(Client|ToolClients|OpenAPIClient)$$' ./cmd/catena
nodes: build client ## the suites of REST, contracts, wire, permissions and scenarios, and the npm clients, through two servers on one PostgreSQL database, which answer requests in turn
	$(NODES) $(ACROSS)
	$(NODES) ./ops/drive
	$(CLIENTS)

client: cmd/catena/testdata/client/node_modules cmd/catena/testdata/mcp/node_modules cmd/catena/testdata/openapi/node_modules ## the unmodified npm clients that the tests drive

cmd/catena/testdata/%/node_modules: cmd/catena/testdata/%/package-lock.json
	cd $(@D) && npm ci --no-audit --no-fund --ignore-scripts
	@touch $@

check: lint test golden ## what must pass before a change goes in
	git diff --exit-code

lint: export CGO_ENABLED := 0
lint:
	@files=$$(gofumpt -l .); test -z "$$files" || { echo "$$files"; echo "not formatted: run gofumpt -w ."; exit 1; }
	$(GO) vet ./...
	golangci-lint run ./...

survey: ## measurements of the code with their targets; SURVEY=-check fails if one is missed, -list names what misses it
	$(GO) run ./cmd/survey $(SURVEY)

# CATENA_BENCH_SCALE (documents, 10,000) and CATENA_BENCH_FILE (MiB, 64) make the benchmarks of growth and of files larger.
bench: ## benchmarks beside the code, ready for benchstat
	$(GO) test -run '^$$' -bench . -benchmem -count 3 -timeout 60m ./...

QUESTIONS ?= 1000,100000
questions: ## twenty queries that people ask beside SQLite, at QUESTIONS documents (1000,100000), with growth; TEST_STORE=postgres and TEST_POSTGRES have them in PostgreSQL
	CATENA_QUESTIONS=$(QUESTIONS) $(GO) test -run '^$$' -bench Questions -benchtime 1x -count 1 -timeout 6h ./cmd/questions

DOCS ?= 100000
peers: ## requests per second beside a floor that copies stored bytes and beside PocketBase, with DOCS documents (100,000)
	cd cmd/catena/testdata/pocketbase && $(GO) build -o $(CURDIR)/bin/pocketbase .
	CATENA_BENCH_DOCS=$(DOCS) CATENA_PEER=$(CURDIR)/bin/pocketbase $(GO) test -run '^$$' -bench Peers -benchtime 1x -count 1 -timeout 2h ./cmd/catena

plain: ## catena on PostgreSQL beside a server that does the same by SQL, and an import beside COPY; CATENA_BENCH_DOCS (2,000), CATENA_BENCH_IMPORT (20,000), CATENA_BENCH_LATENCY (such as 0.5ms) each way
	$(GO) test -run '^$$' -bench Plain -benchtime 1x -count 1 -timeout 1h ./cmd/catena

churn: ## dead rows and sizes of the tables on PostgreSQL under many changes, with several settings of autovacuum, for CHURN (30s) each
	CATENA_CHURN=$${CHURN:-30s} $(GO) test -run '^$$' -bench Churn -benchtime 1x -count 1 -timeout 1h ./storage/postgres

chart: ## rest/web/docs/img/nodes.svg: a minute of nodes that join and leave under load
	CATENA_CHART=$(CURDIR)/rest/web/docs/img/nodes.svg $(GO) test -count=1 -run 'NodesComeAndGo$$' -v ./cmd/catena

fuzz: ## every fuzz target for a little while
	@for p in $$($(GO) list ./...); do \
	  for f in $$($(GO) test -list '^Fuzz' $$p 2>/dev/null | grep '^Fuzz'); do \
	    $(GO) test -run '^$$' -fuzz "^$$f$$" -fuzztime $${FUZZTIME:-20s} $$p || exit 1; \
	  done; done

fault: build ## the long runs: 20,000 simulated servers, a thousand kills, 100 of nodes and 20 of PostgreSQL, 10 isolations of a node, 20 promotions of a standby, 2,000 stalled clients, every attack at every entry point, the largest decks printed by the browser, every operation canceled
	CATENA_CORPUS=all $(GO) test -count=1 -timeout 30m -run "OperationFails|TablesFail|OlderFiles" ./storage/badger
	CATENA_SEEDS=20000 $(GO) test -count=1 -timeout 4h -run 'Simulation|Badger|TestNodes$$' ./cmd/simulation
	CATENA_KILLS=1000 $(GO) test -count=1 -timeout 60m -run 'TestCrash$$' -v ./cmd/catena
	CATENA_KILLS=100 $(GO) test -count=1 -timeout 60m -run '(Outbox|Waiting)Crash$$' -v ./cmd/catena
	CATENA_KILLS=100 $(GO) test -count=1 -timeout 60m -run 'NodesCrash$$' -v ./cmd/catena
	CATENA_KILLS=10 $(GO) test -count=1 -timeout 60m -run 'NodesIsolated$$' -v ./cmd/catena
	CATENA_SKEW=1 CATENA_KILLS=6 $(GO) test -count=1 -timeout 60m -run 'NodesSkew$$' -v ./cmd/catena
	CATENA_CORPUS=all $(GO) test -count=1 -timeout 60m -run 'NodesStale$$' -v ./cmd/catena
	CATENA_KILLS=20 $(GO) test -count=1 -timeout 30m -run '(ServerKilled|Promoted)$$' -v ./storage/postgres
	CATENA_STALLED=2000 $(GO) test -count=1 -timeout 20m -run 'Stalled$$' -v ./cmd/catena
	CATENA_CORPUS=all $(GO) test -count=1 -timeout 30m -run Corpus -v ./rest ./decks/render
	CATENA_CORPUS=all $(GO) test -count=1 -timeout 60m -run 'Settled|Guesses|Origins' -v ./decks/html ./storage ./rest
	CATENA_CORPUS=all $(GO) test -count=1 -timeout 60m -run Cancel ./ops
	CATENA_CORPUS=all $(GO) test -count=1 -timeout 30m -run 'RealDecks|EveryPlan' ./decks/export ./storage
	CATENA_LARGE=1 $(GO) test -count=1 -timeout 30m -run 'Large(Printed)?$$' -v ./decks/export

upgrade: assets ## servers of the commit BEFORE beside those of now on one database, also while they are killed, and in turn on one data directory
	@test -n "$(BEFORE)" || { echo "BEFORE names the commit or tag of the previous version"; exit 2; }
	@mkdir -p bin
	rm -rf bin/before-source && git worktree prune && git worktree add -f --detach bin/before-source $(BEFORE)
	cp -r decks/theme/dist bin/before-source/decks/theme && cp -r rest/web/dist bin/before-source/rest/web
	cd bin/before-source && CGO_ENABLED=0 $(GO) build -ldflags "-X main.version=$(BEFORE)" -o ../before ./cmd/catena
	git worktree remove --force bin/before-source
	CATENA_BEFORE=$(CURDIR)/bin/before $(GO) test -count=1 -timeout 30m -run 'Upgrade(Directory|Killed)?$$' -v ./cmd/catena

SEEDS ?= 1000
simulation: ## SEEDS (1000) simulated runs of one server, and a quarter as many of two servers on one store
	CATENA_SEEDS=$(SEEDS) $(GO) test -count=1 -timeout 4h -run 'TestSimulation$$|TestNodes$$' -v ./cmd/simulation

SOAK ?= 1h
soak: ## mixed load for SOAK (1h): memory, descriptors, goroutines and disk level off; chart in bin/soak
	CATENA_SOAK=$(SOAK) CATENA_SOAK_REPORT=$(CURDIR)/bin/soak $(GO) test -count=1 -timeout 0 -run 'TestSoak$$' -v ./cmd/catena

pictures: ## decks of other people in the viewer and by reveal.js alone, compared as pictures; SHOTS names a folder for those that differ
	CATENA_PICTURES=all CATENA_SHOTS=$(SHOTS) $(GO) test -count=1 -timeout 30m -run 'TestPictures$$' -v ./rest

paces: build ## the browser tests on slower machines: answers that come late and in any order, scripts at a sixth of their speed, pages that are left only when they are complete
	@for pace in late busy settled; do echo "CATENA_PACE=$$pace"; CATENA_PACE=$$pace $(SUITE) -timeout 60m -run '^TestBrowser' ./rest || exit 1; done

flows: build ## long flows that are built in the browser by its pages alone; CATENA_SHOTS names a folder for pictures of the pages
	CATENA_FLOWS=1 $(GO) test -vet=off -count 1 ./rest -run 'TestBrowser(Intake|CleanUp|Report)'

pages: assets ## first views of the console's pages: what they receive until somebody edits, and how long they take with DOCS documents (100,000) and a tenth as many runs, beside a few
	CATENA_CONSOLE=$(DOCS) $(GO) test -vet=off -count 1 -timeout 30m ./rest -run 'TestBrowserWeight|TestConsoleGrows' -v

golden: ## rewrite generated references (scenarios, typings, registry, costs of tasks)
	$(GO) test ./ops ./scripts ./cmd/catena -run 'Scenarios|Golden' -update
	$(GO) test ./rest/mcp -run TestTasks -update

clean:
	rm -rf bin
