# make builds; make help lists what else there is.
PREFIX ?= /usr/local
# A recipe gets them by its environment: whatever is in a name then, no shell reads it.
export PREFIX DESTDIR

.PHONY: build help demo test soak bench lint golden install uninstall clean
.SUFFIXES:
.NOTPARALLEL:

# Building needs a handful of packages, testing many: `make demo` on a fresh clone installs the few.
BUILD_PACKAGES = node_modules/.build-packages
ALL_PACKAGES = node_modules/.all-packages
# npm's own record of what it installed: newer than the lock file where everything is as that says.
INSTALLED = [ node_modules/.package-lock.json -nt package-lock.json ]
# AGENTPIPE_MAKE tells the prepare script of package.json that it is make that installs; under `npm install -g` npm would install globally.
INSTALL = AGENTPIPE_MAKE=1 npm ci --no-global --no-audit --no-fund --no-update-notifier --loglevel=error
SOURCES = $(shell find packages -path '*/src/*' -o -name '*.[157].md' | grep -v -e /build/ -e node_modules)

build: dist/.built                ## build dist/: executables, man pages, ripgrep

help:                             ## list these targets
	@awk -F ':.*## ' '/^[a-z]+:.*## / { printf "make %-10s %s\n", $$1, $$2 }' Makefile

demo: build                       ## watch the agent fix a failing test (no network, no key)
	@scripts/demo

test: $(ALL_PACKAGES) build       ## run every test
	@scripts/test

soak: $(ALL_PACKAGES) build       ## the long form of what make test does shortly
	@LINE_TIMES=100 RESUME_KILLS=100 MEMORY_TURNS=1000 SESSION_TURNS=200 STORE_KILLS=1000 OUTPUT_MEGABYTES=1000 \
		GOLDEN_CUT_BYTES=2.5e8 RENDER_TIMES=10 MERGE_TIMES=100 FILTER_MEGABYTES=1000 \
		KILLS=all DEADLOCK_MEGABYTES=50 \
		SCRIPT_PAIRS=all INTERRUPT_STEP_MS=20 INTERRUPTED_TURNS=500 RANDOM_KILLS=100 SECONDS_A_FILE=3600 \
		scripts/test line merge filters resume memory long-session crash failing-disk command golden size \
		kill interrupt deadlock interactive-kill random-moments \
		printed-script endings scripts-agent

bench: $(ALL_PACKAGES) build      ## measure, beside named peers
	@scripts/bench

lint: $(ALL_PACKAGES)             ## check types, style and shell scripts
	@scripts/lint

golden: $(ALL_PACKAGES) build     ## write anew what the fixtures must give; review the diff
	@GOLDEN=write scripts/test golden

install: build                    ## install under PREFIX (/usr/local)
	@scripts/install "$$DESTDIR$$PREFIX"

uninstall:                        ## take away what install put there
	@scripts/install --remove "$$DESTDIR$$PREFIX"

clean:                            ## remove what was built
	rm -rf dist .tap packages/*/build

dist/.built: $(BUILD_PACKAGES) $(SOURCES) $(wildcard scripts/lib/* scripts/examples/*) $(wildcard scripts/*.mjs scripts/completions/*.mjs) package.json
	@node scripts/build.mjs && touch $@

$(BUILD_PACKAGES): package-lock.json
	@$(INSTALLED) || { echo 'installing what building needs'; $(INSTALL) --omit=dev >/dev/null; }
	@touch $@

$(ALL_PACKAGES): package-lock.json
	@$(INSTALLED) && [ -d node_modules/tap ] || { echo 'installing what testing needs'; $(INSTALL) >/dev/null; }
	@touch $(BUILD_PACKAGES) $@
