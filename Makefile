# Three tiers: .ci/run for every change, .ci/nightly, .ci/release. docs/CONTRIBUTING.md has a table of them.

build: ## build the binary; from a tarball, the same bytes as in a release
	CGO_ENABLED=0 go build -trimpath -ldflags='-s -w' -o vbot .

help: ## list these targets
	@awk -F ':.*## ' '/^[a-z0-9-]+:.*## / { printf "%-15s %s\n", $$1, $$2 }' $(MAKEFILE_LIST)

golden: ## regenerate the golden files; review their diff like code
	go test ./internal/bot ./internal/tty ./internal/wizard -update
	go test -run '^TestPaths$$' -update # the list is compiled into the tests
	go test -update

javascript: ## generate the modules of the plain JavaScript client from the React clients' TypeScript
	e2e/run test_javascript.py --update

picture: ## make the picture of the bot's page for the README
	e2e/run test_page.py -k picture --update

# For every change: .ci/run.

check: ## run the checks of every change: test, lint, audit and e2e
	.ci/run

test: ## run the tests that need only Go
	go test ./...

lint: ## run gofumpt, style, go vet for three systems, staticcheck, actionlint; ruff, pyright, shellcheck
	@unformatted=$$(go tool -modfile=tools/go.mod gofumpt -l .) && test -z "$$unformatted" || \
		{ echo "gofumpt would change these files: $$unformatted"; exit 1; }
	go run tools/style/main.go .
	go vet ./...
	GOOS=windows go vet ./...
	GOOS=darwin go vet ./...
	go tool -modfile=tools/go.mod staticcheck ./...
	go tool -modfile=tools/go.mod actionlint -shellcheck= -pyflakes=
	e2e/lint

audit: ## check the claims of AUDIT.md
	release/audit

e2e: ## run generated projects end to end, once for each kind; installs packages from PyPI and npm
	e2e/run

# The parts of .ci/nightly.

thorough: ## run the Go tests with every injected fault, and many rounds with random input
	VBOT_TEST_THOROUGH=1 go test -count=1 -timeout 60m ./...

race: ## run the Go tests with the race detector
	go test -race ./...

fuzz: ## fuzz each parser for a while
	.ci/fuzz

variants: ## run the other end-to-end tests: conversations, browsers, carriers, options and faults
	e2e/run variants

services: ## run every service against its stand-in
	e2e/services/run

cluster: ## apply the files of --self-host to a real Kubernetes API server; needs root on Debian
	e2e/run -m cluster

windows: ## run the Go tests and console prompts on Windows binaries under Wine; see e2e/wine
	GOOS=windows CGO_ENABLED=0 go test -exec "$(CURDIR)/e2e/wine" ./...
	e2e/run -m wine

offline: ## build and test the source tarball of HEAD without a network
	release/offline

verify: ## in an unpacked source tarball: compare vendor/ with the modules that go.sum names
	release/verify

vulnerabilities: ## check the linked code for known vulnerabilities
	release/vulnerabilities

catalog-check: ## compare the catalog, the pinned Go and the range of Python with what is newest
	e2e/services/newest

bench: ## run the benchmarks, and compare with the Python tool; RUNS=10 for the figures of performance.md
	go test -run '^$$' -bench . -benchmem $(if $(filter-out 1,$(RUNS)),,-benchtime 1x) ./...
	e2e/bench $(or $(RUNS),1)

cold-start: ## measure how long the quickstart takes, from an empty cache to its first word
	e2e/bench --cold

mutants: ## break the code in small ways, and count how often the package's tests notice; in a clone
	.ci/mutants

local-seconds: ## measure how fast the bot without a key answers; on an idle machine
	e2e/bench --local

cost: ## measure the CPU time and memory of sessions; on an idle machine
	e2e/run -m cost

# The parts of .ci/release.

dist: ## build a release into dist/
	release/dist

dist-source: ## build only the source tarball
	release/source

reproduce: ## build HEAD twice and compare the bytes
	release/reproduce

fips: ## run the tests with the FIPS 140 module, and with only approved cryptography
	GOFIPS140=v1.0.0 GODEBUG=fips140=only go test ./...

# Tables in docs/performance.md.

bench-table: ## compare with the Python tool, and update the tables in docs/performance.md
	e2e/bench --write $(RUNS)

cold-start-table: ## measure the cold start, and update docs/performance.md
	e2e/bench --cold --write

.PHONY: build help golden javascript check test lint audit e2e thorough race fuzz variants services cluster \
	windows offline verify vulnerabilities catalog-check bench cold-start mutants local-seconds cost dist dist-source reproduce fips \
	bench-table cold-start-table
