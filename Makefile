# Go and make are all that these targets need; `make bench` and `make test` use an
# installed OpenBLAS or MKL where there is one.

GO       ?= go
TOOL     := $(GO) tool -modfile=tools/go.mod
PACKAGES := ./...

.PHONY: run test build check vet format lint race fuzz bench slurm-check chance-check report-check clean

# Train on the letters that the program draws, and judge it on letters it never saw.
run: build
	bin/lago-train run --dataset glyphs --variant semantic-hard --seeds 3 --out runs

build:
	$(GO) build -o bin/lago-train ./cmd/lago-train

# The whole suite.
test:
	$(TOOL) gotestsum --format pkgname -- $(PACKAGES)

# What CI runs beside the tests.
check: vet format lint

vet:
	$(GO) vet $(PACKAGES)

format:
	@unformatted=$$($(TOOL) gofumpt -l .); \
	if [ -n "$$unformatted" ]; then echo "not formatted by gofumpt:"; echo "$$unformatted"; exit 1; fi

lint:
	$(TOOL) staticcheck $(PACKAGES)
	$(TOOL) errcheck $(PACKAGES)
	$(TOOL) ineffassign $(PACKAGES)
	$(GO) mod tidy -diff

# Longer checks, each by itself.

race: # needs a C compiler
	$(GO) test -race $(PACKAGES)

FUZZTIME ?= 30s

fuzz:
	$(GO) test ./dataset/matlab -run '^$$' -fuzz '^FuzzRead$$' -fuzztime $(FUZZTIME) -fuzzminimizetime 10x
	$(GO) test ./dataset/matlab/internal/zlib -run '^$$' -fuzz . -fuzztime $(FUZZTIME) -fuzzminimizetime 10x
	$(GO) test ./dataset/features -run '^$$' -fuzz '^FuzzOpen$$' -fuzztime $(FUZZTIME) -fuzzminimizetime 10x
	$(GO) test ./dataset/openlayout -run '^$$' -fuzz '^FuzzLoad$$' -fuzztime $(FUZZTIME) -fuzzminimizetime 1x
	$(GO) test ./dataset/xlsa17 -run '^$$' -fuzz '^FuzzText$$' -fuzztime $(FUZZTIME)
	$(GO) test ./dataset/xlsa17 -run '^$$' -fuzz '^FuzzCacheFile$$' -fuzztime $(FUZZTIME)
	$(GO) test ./dataset/described -run '^$$' -fuzz '^FuzzCSV$$' -fuzztime $(FUZZTIME)
	$(GO) test ./dataset/described -run '^$$' -fuzz '^FuzzJSON$$' -fuzztime $(FUZZTIME)
	$(GO) test ./dataset/fetch -run '^$$' -fuzz '^FuzzUnpack$$' -fuzztime $(FUZZTIME) -fuzzminimizetime 10x
	$(GO) test ./internal/integers -run '^$$' -fuzz '^FuzzNPY$$' -fuzztime $(FUZZTIME) -fuzzminimizetime 10x
	$(GO) test ./train -run '^$$' -fuzz '^FuzzLoad$$' -fuzztime $(FUZZTIME) -fuzzminimizetime 1x
	$(GO) test ./train -run '^$$' -fuzz '^FuzzReadCurve$$' -fuzztime $(FUZZTIME) -fuzzminimizetime 1x
	$(GO) test ./train/safetensors -run '^$$' -fuzz '^FuzzRead$$' -fuzztime $(FUZZTIME)

# Milliseconds a step of W and of V for the four variants at the sizes of the
# paper's data sets, with allocations.
bench:
	LAGO_BENCH=1 $(GO) test ./train -run '^$$' -bench Step -benchtime 10x

# The ablation grid as an array of a real Slurm on this machine, with a task killed
# and requeued. Needs root, slurm-wlm and munge.
slurm-check: build
	tools/slurm-check.sh bin/lago-train

# Every method by the descriptions of other classes, on cub127 of $LAGO_DATA: chance
# is all that may be left.
chance-check:
	LAGO_CHANCE=1 $(GO) test -count=1 -v -timeout 30m -run 'LeaveChanceOnCUB127' ./experiments/comparison

# The report in headless Chromium, light and dark: no errors, no requests, and every
# picture laid out whole. Needs Chromium.
report-check:
	$(GO) test -count=1 -tags chromium -run Browser ./experiments/report ./experiments/explain ./experiments/webpage/browser

clean:
	rm -rf bin
