# make builds; make help lists what else there is.
PREFIX ?= /usr/local

.PHONY: build help demo test bench lint golden install uninstall clean
.SUFFIXES:

# Building needs a handful of packages, testing many: `make demo` on a fresh clone installs the few.
BUILD_PACKAGES = node_modules/.build-packages
ALL_PACKAGES = node_modules/.all-packages
SOURCES = $(shell find packages -path '*/src/*' -o -name '*.[157].md' | grep -v -e /build/ -e node_modules)

build: dist/.built                ## build dist/: executables, man pages, ripgrep

help:                             ## list these targets
	@sed -n 's/^\([a-z]*\):.*## \(.*\)/\1\t\2/p' $(MAKEFILE_LIST)

demo: build                       ## watch the agent fix a failing test (no network, no key)
	@scripts/demo

test: build $(ALL_PACKAGES)       ## run every test
	@scripts/test

bench: build $(ALL_PACKAGES)      ## measure, beside named peers
	@scripts/bench

lint: $(ALL_PACKAGES)             ## check types, style and shell scripts
	@scripts/lint

golden: build $(ALL_PACKAGES)     ## write anew what the fixtures must give; review the diff
	@GOLDEN=write scripts/test golden

install: build                    ## install under PREFIX (/usr/local)
	@scripts/install "$(DESTDIR)$(PREFIX)"

uninstall:                        ## take away what install put there
	@scripts/install --remove "$(DESTDIR)$(PREFIX)"

clean:                            ## remove what was built
	rm -rf dist .tap packages/*/build

dist/.built: $(BUILD_PACKAGES) $(SOURCES) scripts/build.mjs scripts/man.mjs package.json
	@node scripts/build.mjs && touch $@

$(BUILD_PACKAGES): package-lock.json
	@[ -e $(ALL_PACKAGES) ] && [ $(ALL_PACKAGES) -nt package-lock.json ] || npm ci --omit=dev --no-audit --no-fund --loglevel=error
	@touch $@

$(ALL_PACKAGES): package-lock.json
	@npm ci --no-audit --no-fund --loglevel=error
	@npx tap build >/dev/null 2>&1
	@touch $(BUILD_PACKAGES) $@
