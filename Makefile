# These targets need only Go and make. `make bench` and `make test` use OpenBLAS or MKL
# if it is installed.

GO       ?= go
TOOL     := $(GO) tool -modfile=tools/go.mod
PACKAGES := ./...
# The tags of tests that need more than Go.
TAGS     := shared,installed,chromium

.PHONY: run test dist build check vet format lint size race fuzz bench bench-torch slurm-check installed-check docs-check report-check page-check axe data-check chance-check readme-check results pictures graphs clean

# Train LAGO, which learns groups of attributes, on synthetic glyphs, and evaluate on classes without
# training samples.
run: build
	bin/lago-train run --dataset glyphs --method k-soft --seeds 3 --out runs

# -buildvcs=auto records the revision for trial.json and --version, whatever GOFLAGS says.
build:
	$(GO) build -buildvcs=auto -o bin/lago-train ./cmd/lago-train

# Archives of the program for Linux, macOS and Windows in dist, with their SHA-256: the same bytes
# from the same commit and Go. Those for this machine are tried.
dist:
	tools/dist.sh dist

# The whole suite, for which Go is enough. What needs other programs or data is in targets of its own, which
# fail without them: installed-check, docs-check, report-check, page-check, data-check and those below.
test:
	$(TOOL) gotestsum --format pkgname -- $(PACKAGES)

# What CI runs in addition to the tests.
check: vet format lint size

vet:
	$(GO) vet -tags $(TAGS) $(PACKAGES)

format:
	@unformatted=$$($(TOOL) gofumpt -l .); \
	if [ -n "$$unformatted" ]; then echo "not formatted by gofumpt:"; echo "$$unformatted"; exit 1; fi

lint:
	$(TOOL) staticcheck -tags $(TAGS) $(PACKAGES)
	$(TOOL) errcheck $(PACKAGES)
	$(TOOL) ineffassign $(PACKAGES)
	$(GO) mod tidy -diff

# Lines of the program and of the tests, against the limits in the script.
size:
	tools/size.sh

# Longer checks.

# The packages that start goroutines, and those whose loops internal/parallel splits. With
# the others the race detector would take several times as long and see no more.
RACE ?= ./dataset/fetch ./dataset/glyphs ./dataset/xlsa17 \
	./experiments/answers/extract ./experiments/runs/lab ./experiments/answers/predictor/render ./internal/... ./model/... \
	./train/...

race:
	@[ "$$($(GO) env CGO_ENABLED)" = 1 ] && command -v $$($(GO) env CC) >/dev/null || \
		{ echo "race: expected a C compiler (gcc or cc, with CGO_ENABLED=1), found none" >&2; exit 1; }
	$(GO) test -race $(RACE)

FUZZTIME ?= 30s

fuzz: # every fuzz target for FUZZTIME
	@grep -r --include='*_test.go' '^func Fuzz' . | sed -E 's|^(.*)/[^/]*:func (Fuzz[A-Za-z0-9]*).*|\1 \2|' | \
	while read -r package target; do \
		echo "$$package $$target"; \
		$(GO) test "$$package" -run '^$$' -fuzz "^$$target\$$" -fuzztime $(FUZZTIME) -fuzzminimizetime 10x || exit 1; \
	done

# Milliseconds and allocations per step of W and of V, for the four variants at the sizes
# of the paper's data sets, with the ratio to the matrix products and Adam alone.
bench:
	LAGO_BENCH=1 $(GO) test ./train/lago -run '^$$' -bench Step -benchtime 10x -v

# Steps against the same model in PyTorch, of which $$PEER is the folder, on cub127 of $$LAGO_DATA.
bench-torch: build
	tools/bench-torch.sh bin/lago-train

# The ablation grid as an array of a real Slurm on this machine, with a task killed
# and requeued. Needs root, slurm-wlm and munge.
slurm-check: build
	tools/slurm-check.sh bin/lago-train

# The completion scripts and the script of docs/results.md in their shells, and OpenBLAS or MKL against
# gonum. Needs bash, zsh, fish and one of the libraries.
installed-check:
	$(GO) test -count=1 -tags installed -run 'Completion|CommandsOfResults' ./cmd/lago-train
	$(GO) test -count=1 -tags installed ./internal/blas

# The blocks of docs/python.md and the scripts of docs/xlsa17.md, with $(PYTHON).
PYTHON ?= python3

docs-check:
	@$(PYTHON) -c 'import numpy, scipy, pandas, matplotlib' 2>/dev/null || { echo \
		"docs-check: expected NumPy, SciPy, pandas and Matplotlib in $(PYTHON). PYTHON=... names another." >&2; exit 1; }
	$(GO) test -count=1 -run 'TestPages|ScriptsOfXlsa17' ./cmd/lago-train -python $(PYTHON) -pages docs/python.md

# What is read from ../shared: the data sets as released, and the features and crops of all reference
# photographs, against PyTorch's; and the whole way of the page with photographs of 28 species. Needs the
# folder, and Chromium.
data-check: axe
	$(GO) test -count=1 -tags shared ./dataset/check ./dataset/images ./dataset/xlsa17 ./experiments/runs/config
	$(GO) test -count=1 -tags shared -v -timeout 30m -run 'Reference|Photographs|VisionTransformers' ./model/network/... ./experiments/answers/extract
	LAGO_AXE="$(AXE)" $(GO) test -count=1 -tags shared,chromium -timeout 30m -run WholeWayInBrowser ./cmd/lago-train

# Every method with permuted class descriptions, on cub127 of ../shared/data: the accuracy must fall to chance.
chance-check:
	$(GO) test -count=1 -tags shared -v -timeout 30m -run LeaveChanceOnCUB127 ./experiments/studies

# The report, the page of explain and the contact sheet in headless Chromium, light and dark: no
# errors, no requests, nothing cut off, tables sorted, and axe-core finds nothing. Needs Chromium.
report-check: axe
	LAGO_AXE="$(AXE)" $(GO) test -count=1 -tags chromium -run Browser ./experiments/runs/results ./experiments/answers/predictor/render

# The page of serve in headless Chromium: described, tried and checked as a user does. Needs Chromium.
# Of each view axe-core checks the accessibility. $$LAGO_SCREENSHOTS is a folder for pictures of it.
page-check: axe
	LAGO_AXE="$(AXE)" $(GO) test -count=1 -tags chromium -run Browser ./experiments/answers/serve

# axe-core, which checks accessibility, outside of the repository. Needs npm, once. AXE=... names a file that is
# there, and AXE=none leaves these checks out.
AXE ?= $(or $(XDG_CACHE_HOME),$(HOME)/.cache)/axe-core/4.11.0.min.js
AXE_SHA256 := e9e5863c33a874f09bc01acd9234b7e3c871479f5eef8802fa582544465e6d01

axe:
	@[ "$(AXE)" = none ] || tools/axe.sh "$(AXE)" $(AXE_SHA256)

# The README's commands and those of docs in order, as a new user runs them: each output must be as shown.
# Minutes. Needs cub127 in $$LAGO_DATA; commands on other data sets that are not there are named, and not run.
readme-check:
	@[ -d "$$LAGO_DATA/CUB127" ] || { echo "readme-check: expected the folder CUB127 in \$$LAGO_DATA" >&2; exit 1; }
	$(GO) test -count=1 -v -timeout 60m -run TestPages ./cmd/lago-train -data "$$LAGO_DATA" \
		-pages README.md,docs/quickstart.md,docs/using-a-model.md,docs/evaluation.md,docs/evaluation-reference.md

# The commands of docs/results.md, and the page with what they print: over an hour, with cub127 in
# $LAGO_DATA. It can be stopped, and continues. tools/results.sh has the variables, such as SECTIONS="rotation noise" and TRIAL=1.
results: build
	tools/results.sh bin/lago-train
	$(MAKE) pictures

# The pictures of the README and docs. Needs Chromium.
pictures: build
	tools/pictures.sh bin/lago-train docs

# The pictures of the training graphs. Needs dot of Graphviz.
graphs:
	$(GO) test -count=1 ./model -run Pictures -update

clean:
	rm -rf bin dist
