# CI runs all of it: .ci/run.

build: ## the program, as a release has it
	CGO_ENABLED=0 go build -buildvcs=false -trimpath -ldflags='-s -w' -o vbot .

help: ## list these targets
	@awk -F ':.*## ' '/^[a-z0-9-]+:.*## / { printf "%-15s %s\n", $$1, $$2 }' $(MAKEFILE_LIST)

test: ## the tests that need Go alone
	go test ./...

golden: ## write the golden files again; read their diff as you would code
	go test . -update

lint: ## gofmt, go vet for three systems and staticcheck; ruff, pyright and shellcheck for the checks
	@test -z "$$(gofmt -l *.go internal)" || { gofmt -l *.go internal; echo 'gofmt would change these files'; exit 1; }
	go vet ./...
	GOOS=windows go vet ./...
	GOOS=darwin go vet ./...
	go tool -modfile=tools.mod staticcheck ./...
	e2e/lint

vulnerabilities: ## known vulnerabilities in what vbot links
	release/vulnerabilities

e2e: ## real bots, conversations and evals; installs what it needs from PyPI
	e2e/run

catalog-check: ## what the newest framework of the range has that the catalog lacks, and what moved
	e2e/newest

dist: ## what a release publishes, into dist/
	release/dist

dist-source: ## the source with all modules alone
	release/source

reproduce: ## two builds of HEAD, compared byte by byte
	release/reproduce

offline: ## build and test the source tarball of HEAD without a network
	release/offline

audit: ## try what AUDIT.md claims
	release/audit

bench: ## the benchmarks, and vbot beside the Python tool; RUNS=1 for a quick look
	go test -run '^$$' -bench . -benchmem ./...
	e2e/bench $(RUNS)

bench-table: ## the same, and the tables go into docs/performance.md
	e2e/bench --write $(RUNS)

.PHONY: build help test golden lint vulnerabilities e2e catalog-check dist dist-source reproduce offline audit bench bench-table
