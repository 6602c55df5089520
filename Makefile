# .ci/run runs all checks.

build: ## build the binary; from a tarball, the same bytes as in a release
	CGO_ENABLED=0 go build -trimpath -ldflags='-s -w' -o vbot .

help: ## list these targets
	@awk -F ':.*## ' '/^[a-z0-9-]+:.*## / { printf "%-15s %s\n", $$1, $$2 }' $(MAKEFILE_LIST)

test: ## run the tests that need only Go
	go test ./...

fips: ## run the tests with the FIPS 140 module, and with nothing but approved cryptography
	GOFIPS140=v1.0.0 GODEBUG=fips140=only go test ./...

golden: ## regenerate the golden files; review their diff like code
	go test . ./internal/tty -update

javascript: ## make the plain JavaScript client's modules of the TypeScript of the React clients
	e2e/run test_javascript.py --update

lint: ## run gofmt, go vet for three systems, staticcheck; ruff, pyright, shellcheck
	@test -z "$$(gofmt -l *.go internal templates)" || { gofmt -l *.go internal templates; echo 'gofmt would change these files'; exit 1; }
	go vet ./...
	GOOS=windows go vet ./...
	GOOS=darwin go vet ./...
	go tool -modfile=tools/go.mod staticcheck ./...
	e2e/lint

windows: ## run the Go tests as a Windows program, and questions at a console, under Wine; see e2e/wine
	GOOS=windows CGO_ENABLED=0 go test -exec "$(CURDIR)/e2e/wine" ./...
	e2e/run -m wine

vulnerabilities: ## check the linked code for known vulnerabilities
	release/vulnerabilities

e2e: ## run real bots, one of each kind, with the real framework; installs packages from PyPI and npm
	e2e/run

variants: ## run the others: more conversations, browsers, transports and faults
	e2e/run variants

vendors: ## run every service against a stand-in for its vendor
	vendors/run

catalog-check: ## compare the catalog and the pinned Go with the newest there are
	vendors/newest

dist: ## build a release into dist/
	release/dist

dist-source: ## build only the source tarball
	release/source

reproduce: ## build HEAD twice and compare the bytes
	release/reproduce

offline: ## build and test the source tarball of HEAD without a network
	release/offline

audit: ## check the claims of AUDIT.md
	release/audit

mutate: ## break vbot on purpose, one place at a time, and count what the tests notice
	release/mutate

bench: ## run the benchmarks, and compare with the Python tool; RUNS=1 for a quick look
	go test -run '^$$' -bench . -benchmem $(if $(filter 1,$(RUNS)),-benchtime 1x) ./...
	e2e/bench $(RUNS)

bench-table: ## compare, and update the tables in docs/performance.md
	e2e/bench --write $(RUNS)

cold-start: ## measure the quickstart from nothing to its first word, and update docs/performance.md
	e2e/bench --cold --write

.PHONY: build help test fips golden javascript lint windows vulnerabilities e2e variants vendors catalog-check dist dist-source reproduce offline audit mutate bench bench-table
