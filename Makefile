# make            bin/shadow and bin/libstackagent.so
# make demo       installs what is missing, profiles a real program, says where the report is
# make test       installs what the tests need, builds, runs the tests, lists the slowest
# make test-full  the same with every class, example, fault and attack, and with the fuzz targets: hours
# make help       the other targets

SHELL := /bin/sh
GO    := scripts/go.sh

# What is missing is named by `check` in one line each; until then an empty
# JAVA_HOME must not stop the targets that install it.
export JAVA_HOME := $(or $(JAVA_HOME),$(shell scripts/java-home.sh 2>/dev/null))
export CGO_CFLAGS := -g -O2 -I$(JAVA_HOME)/include -I$(JAVA_HOME)/include/linux
# The agent is a shared library, whose packages are compiled to run at any address. With pie all else is, too: what both need is
# compiled once. The race detector does not know it. Nothing keeps what debuggers read (LDFLAGS), so it is not written: a tenth of
# the compiler's time.
export GOFLAGS := -buildvcs=false -trimpath -buildmode=pie -gcflags=all=-dwarf=false

VERSION := $(shell git describe --tags --always --dirty 2>/dev/null || echo unknown)
LDFLAGS := -s -w -X main.version=$(VERSION) -X stackagent/agent.Version=$(VERSION)

# The agent's Go runtime has no signal handlers, so it cannot be preempted by SIGURG. It is not to send
# one, nor to open it on its threads: a handler of the program would run there.
AGENT_LDFLAGS := -X runtime.godebugDefault=asyncpreemptoff=1

JAVAC  := $(JAVA_HOME)/bin/javac
HELPER := jvmti/helper/java/lang/Stackagent.class

# The packages with cgo: of these go vet looks at what is not Go.
CGO := ./jvmti ./cmd/stackagent
# Run under the race detector: the packages with goroutines that share state.
RACE := ./agent/drain ./agent/publish ./shadow/collect/bus ./shadow/collect/ingest ./shadow/collect/ownership ./shadow/store
# go test, with a record of how long each test took.
GOTESTSUM := gotest.tools/gotestsum@v1.13.0
TESTS = $(GO) run $(GOTESTSUM) --jsonfile $(TIMES)/$(1).json
# A test of a whole program that fails is run once more by itself: some compare two runs of it to a fifth, which other programs on the machine
# change. What failed once stands in the list at the end; more than five that fail are no accident.
RERUN := --rerun-fails=1 --rerun-fails-max-failures=5
# How long the parts and the tests of the last make test took.
TIMES := build/times
TIMED := scripts/timed.sh $(TIMES)/parts
# What they started, see scripts/budget.txt.
export STACKAGENT_TEST_COUNTS ?= $(CURDIR)/$(TIMES)/counts
# Executions of each fuzz target, or a time (FUZZTIME=10m). A count ends when it is done; at the end of a time
# go test now and then fails with "context deadline exceeded" though nothing was found.
FUZZTIME ?= 2000x

# The version that is known to work here; a newer one is tried before this line changes (docs/dependencies.md).
GO_PERF := v0.0.0-20241029065020-30bec95324b8

.PHONY: integrations consumers vertical man page pictures real suite-check evaluation predictions random all check demo test test-full unit jvmti race e2e e2e-full browser browser-full torture rounds repeats fleet-load lint timings fuzz bench bench-diff soak house deps clean help

# BUILT=1: both are there. Go 1.26 compiles all packages with cgo anew for a shared library, whatever it has in its cache.
all: $(if $(BUILT),,check bin/libstackagent.so bin/shadow)

help:
	@sed -n '1,/^$$/s/^# //p' Makefile
	@echo 'what make test-full adds:'
	@sed -n 's/^#   /  /p' Makefile
	@echo 'make unit jvmti race e2e browser lint    the parts of make test'
	@echo 'make timings    how long the parts of the last make test took, and its 20 slowest tests'
	@echo 'make e2e-full   every example on every JDK and collector, also -Xint, -Xcomp, -Xcheck:jni'
	@echo 'make fuzz       every fuzz target for FUZZTIME (now $(FUZZTIME)) each'
	@echo 'make bench      what profiling costs: writes docs/internals/benchmarks.md (PARTS=task,metric,submission,bytecodes,real,start,load,shadow,feed,query,switches,waits,growth,page ONLY=pmd ROUNDS=5 JDKS=25 TOOLS=timing LIMIT=5m QUICK=1)'
	@echo 'make bench-diff what became slower since BASE=REF (default: the last commit)'
	@echo 'make faults     every fault N times at random moments (N=50), the account checked after each'
	@echo 'make torture    every attack on the agent, the shadow and sessions, in full (a short form is in make test)'
	@echo 'make rounds     the tests N times (N=10) beside four busy loops: finds those that depend on the speed of the machine'
	@echo 'make dist       a release in build/dist: tarballs, .deb, .rpm, checksums, lists of what is linked (VERSION=1.2.3)'
	@echo 'make man        the manual pages, stackagent-shadow*.1, in MANDIR (bin/man/man1); man -M bin/man stackagent-shadow-run'
	@echo 'make page       bundles shadow/show/page/front into shadow/show/page/dist, which bin/shadow embeds; needs node and npm'
	@echo 'make pictures   profiles six programs and takes the pictures of their reports for the documentation; needs chromium'
	@echo 'make real       profiles real programs (PROGRAMS=kafka:--task=@kafka,...): which share of the work bears names of the program'
	@echo 'make evaluation  the tables and figures of the papers from programs of the suite, in build/evaluation; goes on where it was (QUICK=1 PROGRAMS=pmd,h2)'
	@echo 'make consumers  real tools with stackagent: trace processor, jfr, Mission Control, DuckDB, OpenTelemetry, ..., and builds with Maven, Gradle and JMH (ONLY=TestMaven STACKAGENT_SESSIONS=DIR)'
	@echo 'make suite-check  fetches the programs of the suite (PROGRAMS=lucene-search,h2), runs each once at its small size and checks its result'
	@echo 'make predictions  asks what a change gains in real programs, makes it and measures: predicted beside measured (PROGRAMS=pmd-cli,h2-bank ROUNDS=3)'
	@echo 'make repeats    runs the programs with known advice N times (N=10, ONLY=tomcat) with each --detail and prints how often each gets it'
	@echo 'make vertical   programs with planted causes, and what shadow vertical --explain says of each first'
	@echo 'make integrations  the JUnit listener, the Maven and Gradle plugins and the JMH profiler, into the Maven repository build/integrations/repository'
	@echo 'make random     N random programs that measure what their response times went to (N=500), beside what shadow why says of them'
	@echo 'make soak       one long run (SOAK=10m)'
	@echo 'make house      how large the tree is: lines, packages, functions, files, words'
	@echo 'make clean'

check:
	@ok=0; \
	scripts/java-home.sh >/dev/null || ok=1; \
	scripts/go.sh --which >/dev/null || ok=1; \
	command -v cc >/dev/null || { echo 'no C compiler: apt-get install gcc libc6-dev' >&2; ok=1; }; \
	exit $$ok

# go build looks itself at what has changed; the outputs are always asked for.
.PHONY: bin/shadow bin/libstackagent.so

# With cgo like the agent and the tests, so that all is compiled once; releases are without it (scripts/dist.sh). Linked for one address,
# as releases are: 6 MB of relocations less, which each start would apply.
bin/shadow:
	CGO_ENABLED=1 $(GO) build -ldflags '$(LDFLAGS) -buildmode=exe -linkmode=external' -o $@ ./cmd/shadow

bin/libstackagent.so: $(HELPER)
	CGO_ENABLED=1 $(GO) build -ldflags '$(LDFLAGS) $(AGENT_LDFLAGS)' -buildmode=c-shared -o $@ ./cmd/stackagent
	@rm -f bin/libstackagent.h

# The probes' Java side, a class of java.base that the library carries in itself. Byte code of
# Java 17, so that one library serves all JDKs.
# What reads monitors needs modules that java.base does not, so it is compiled apart.
HELPER_FLAGS := -g:none -Xlint:-options -XDignore.symbol.file -XDstringConcat=inline -source 17 -target 17 -d jvmti/helper
$(HELPER): $(wildcard jvmti/java/java/lang/*.java jvmti/java/stackagent/inside/*.java)
	@mkdir -p jvmti/helper
	$(JAVAC) $(HELPER_FLAGS) --patch-module java.base=jvmti/java $(filter jvmti/java/java/%,$^)
	$(JAVAC) $(HELPER_FLAGS) --patch-module java.base=jvmti/helper $(filter jvmti/java/stackagent/%,$^)

# Manual pages of the commands. Their names begin with stackagent-, as shadow(5) is the system's.
MANDIR := bin/man/man1
man: bin/shadow
	rm -f $(MANDIR)/stackagent-shadow*.1
	bin/shadow man $(MANDIR)

# The page's bundle, which is committed: bin/shadow embeds it and needs neither node nor npm. npm itself writes the
# stamp when it has installed what package-lock.json says.
FRONT := shadow/show/page/front
NPM   := $(FRONT)/node_modules/.package-lock.json

$(NPM): $(FRONT)/package.json $(FRONT)/package-lock.json
	cd $(FRONT) && npm ci --no-audit --no-fund --loglevel=error
	@touch $@

page: $(NPM)
	cd $(FRONT) && npm run --silent build

# Wants a machine with nothing else to do, so that no report says that it was busy, and JDK 21 or newer.
pictures: all
	scripts/pictures.sh

# Fetches Kafka, Spark and others from Maven Central the first time. Not part of make test.
real: all
	scripts/suite/shares.sh $(shell echo '$(PROGRAMS)' | tr , ' ')

# Needs the network and minutes the first time. Not part of make test.
evaluation: all
	QUICK=$(QUICK) PROGRAMS=$(PROGRAMS) scripts/evaluation.sh

# Four minutes, on a machine with nothing else to do.
vertical: all
	@mkdir -p build/vertical
	STACKAGENT_E2E=full STACKAGENT_VERTICAL=$(CURDIR)/build/vertical/table.md $(GO) test -count=1 -timeout 1h -run '^TestVertical' ./e2e; \
	code=$$?; cat build/vertical/table.md; exit $$code

# Needs node and npm; aarch64-linux-gnu-gcc for arm64. The helper's classes are part of the library.
dist: $(HELPER)
	scripts/dist.sh build/dist $(if $(filter command line,$(origin VERSION)),$(VERSION))

# Downloads the tools that read what stackagent writes (from PyPI and Maven Central, into ~/.cache/stackagent) and lets them.
# The objects for Kubernetes and the container images are checked against its own types. STACKAGENT_SESSIONS=DIR takes the sessions of that folder, too. Needs node, python3 with pip, and JDK 21 or newer. Not part of make test.
consumers: all integrations
	cd deploy/check && CGO_ENABLED=0 ../../$(GO) test ./...
	$(GO) test -tags consumers -count=1 -timeout 1h $(if $(ONLY),-run '$(ONLY)') ./e2e/consumers

suite-check:
	$(GO) run ./scripts/suite check $(if $(SIZE),-small=false) $(shell echo '$(PROGRAMS)' | tr , ' ')

# Takes a quarter of an hour, and wants a machine with nothing else to do.
predictions: all
	ROUNDS=$(or $(ROUNDS),3) scripts/suite/predict.sh $(shell echo '$(PROGRAMS)' | tr , ' ')

# A Maven repository, ready to be published: jars, sources, javadoc and checksums. Needs Maven and, the first time, the network.
integrations:
	rm -rf build/integrations/repository
	mvn -B -q -f integrations/pom.xml clean deploy -Dmaven.install.skip=true \
		-DaltDeploymentRepository=local::default::file://$(CURDIR)/build/integrations/repository

deps:
	scripts/install-deps.sh

# In sub-makes: what was just installed is found anew.
demo:
	scripts/install-deps.sh demo
	@$(MAKE) --no-print-directory all
	scripts/demo.sh

# What waits and what computes run beside each other, two at once in this order: browser, which mostly waits, comes beside the last of
# unit-jvmti, which uses one processor. The tests of whole programs come by themselves, as some of them measure the machine.
test:
	scripts/install-deps.sh test
	@rm -rf $(TIMES)
	@mkdir -p $(TIMES)
	@$(TIMED) build $(MAKE) --no-print-directory all
	@$(TIMED) 'lint, unit, jvmti, race, browser' $(MAKE) --no-print-directory -j2 --output-sync=target BUILT=1 race unit-jvmti lint browser
	@$(TIMED) e2e $(MAKE) --no-print-directory BUILT=1 e2e
	@$(MAKE) --no-print-directory timings
	@scripts/budget.sh $(TIMES) scripts/budget.txt

unit-jvmti:
	@$(MAKE) --no-print-directory unit
	@$(MAKE) --no-print-directory jvmti

# What takes long and finds little (make help lists these lines):
#   every class of every JDK is parsed, rewritten and verified, not a sample
#   every example on every JDK and collector and in every mode of the JVM; every defect of examples/advice
#   every --detail on every JDK; make test covers each of both, crosswise
#   processes that put, merge and upload are killed at each of their requests to the object store, not at some
#   the attacks with more rounds, and each on every JDK: the memory of threads and classes is on one in make test
#   240 sessions that come and go, not 120; a cluster that loses nodes four times, not once
#   every example without the agent once more; each session is recorded anew
#   what advice is predicted to gain beside what it gains, and what collectors cost, by the clock
#   every fuzz target; the sessions of FuzzStored and FuzzDamaged are made into reports, too
#   the command is built for macOS
test-full: export STACKAGENT_ALL_CLASSES := 1
test-full: export STACKAGENT_TORTURE := full
test-full:
	scripts/install-deps.sh test
	@rm -rf $(TIMES)
	@mkdir -p $(TIMES)
	@$(MAKE) --no-print-directory all
	@$(TIMED) lint $(MAKE) --no-print-directory lint
	GOOS=darwin CGO_ENABLED=0 $(GO) build -o /dev/null ./cmd/shadow
	@$(TIMED) unit $(MAKE) --no-print-directory unit
	@$(TIMED) jvmti $(MAKE) --no-print-directory jvmti
	@$(TIMED) race $(MAKE) --no-print-directory race
	@$(TIMED) fuzz $(MAKE) --no-print-directory fuzz
	@$(TIMED) browser $(MAKE) --no-print-directory BUILT=1 browser-full
	@$(TIMED) e2e $(MAKE) --no-print-directory BUILT=1 e2e-full
	@$(MAKE) --no-print-directory timings

timings:
	@echo 'Seconds and processor seconds of each part:'
	@cat $(TIMES)/parts 2>/dev/null || echo 'none: run make test first'
	@echo 'The slowest tests:'
	@cat $(TIMES)/*.json 2>/dev/null | $(GO) run $(GOTESTSUM) tool slowest --num 20

# With its default, these spend two fifths (build/lint, cmd/shadow) or one (other tests) of their processor time on collecting garbage.
lint unit: export GOGC := 400

lint: $(HELPER) $(NPM)
	@bad=$$(gofmt -l $$(git ls-files -co --exclude-standard '*.go' 2>/dev/null || find . -name '*.go')); \
	[ -z "$$bad" ] || { echo "not formatted by gofmt: $$bad" >&2; exit 1; }
	@grep -q 'github.com/elastic/go-perf $(GO_PERF)$$' go.mod || \
	{ echo 'go.mod: github.com/elastic/go-perf is not $(GO_PERF); run the tests of hpc with the new version, then change GO_PERF in the Makefile' >&2; exit 1; }
	$(GO) build -C scripts/lint -o ../../build/lint .
	build/lint ./...
	$(GO) vet $(CGO)
	cd $(FRONT) && npm run --silent check

# lint has vetted all packages, tests included; the tests are not vetted again. A sample of the classes of every JDK found is parsed, rewritten and verified; with STACKAGENT_ALL_CLASSES=1, all
# of them. The packages of RACE run under the race detector only.
unit: $(HELPER) | $(TIMES)
	$(call TESTS,unit) --format standard-quiet \
		--packages "$$($(GO) list ./... | grep -v -e /e2e -e /jvmti $(RACE:./%=-e '/%$$') | tr '\n' ' ')" -- -vet=off -timeout 60m

# The C parts are compiled and run by these tests, which are not cached: go test does not see what the C compiler reads.
jvmti: $(HELPER) | $(TIMES)
	$(call TESTS,jvmti) --format standard-quiet --packages ./jvmti/... -- -vet=off -count=1 -timeout 60m -p 1

race: $(HELPER) | $(TIMES)
	$(call TESTS,race) --format standard-quiet --packages "$(RACE)" -- -vet=off -timeout 60m -race -buildmode=default -parallel 4

# Most tests wait for JVMs: more of them run at once than there are processors.
e2e: all | $(TIMES)
	$(call TESTS,e2e) $(RERUN) --format standard-verbose --packages ./e2e -- -vet=off -count=1 -timeout 90m -parallel 4

e2e-full: all | $(TIMES)
	STACKAGENT_E2E=full $(call TESTS,e2e) $(RERUN) --format standard-verbose --packages ./e2e -- -count=1 -timeout 3h -parallel 4

# The page in a real Chromium; what it looked like is in build/screenshots.
browser: all $(NPM) | $(TIMES)
	$(call TESTS,browser) $(RERUN) --format standard-verbose --packages ./e2e/browser -- -vet=off -count=1 -timeout 30m

browser-full: all $(NPM) | $(TIMES)
	STACKAGENT_E2E=full $(call TESTS,browser) $(RERUN) --format standard-verbose --packages ./e2e/browser -- -count=1 -timeout 90m

$(TIMES):
	@mkdir -p $@

fuzz: $(HELPER)
	scripts/fuzz.sh $(FUZZTIME)

# Writes the tables of docs/internals/benchmarks.md; with QUICK=1 it only tries the harness and prints them.
bench: all
	$(GO) run ./scripts/bench $(if $(PARTS),-parts '$(PARTS)') $(if $(ONLY),-only '$(ONLY)') $(if $(TOOLS),-tools '$(TOOLS)') $(if $(JDKS),-jdks '$(JDKS)') $(if $(ROUNDS),-rounds $(ROUNDS)) $(if $(LIMIT),-limit $(LIMIT)) \
		$(if $(QUICK),-quick,-page docs/internals/benchmarks.md)

# Slower than BASE? Exits 1 when something is, by more than 10 %.
bench-diff: $(HELPER)
	$(GO) run ./scripts/bench/diff $(if $(QUICK),-quick) $(or $(BASE),HEAD)

faults: all
	STACKAGENT_FAULTS=$(or $(N),50) $(GO) test -count=1 -timeout 24h -v -run '^TestFaultLoop' ./e2e

torture: all
	STACKAGENT_TORTURE=full $(GO) test -count=1 -timeout 6h -v -run '^TestTorture' ./...

random: all | $(TIMES)
	STACKAGENT_RANDOM=$(or $(N),500) $(GO) test -count=1 -timeout 24h -v -run '^TestRandomPrograms$$' ./e2e

soak: all
	STACKAGENT_SOAK=$(or $(SOAK),5m) $(GO) test -count=1 -timeout 24h -v -run '^TestSoak$$' ./e2e

rounds: all
	scripts/rounds.sh $(or $(N),10) $(LOOPS)

# How often each program gets each advice, in N runs with each --detail: findings must not depend on chance.
repeats: all
	$(GO) run ./scripts/repeats -n $(or $(N),10) $(if $(ONLY),-only '$(ONLY)')

# Replays the batches of one JVM as those of 1,000 JVMs, on two shadows: a hundredth of the fleet of docs/fleet-plan.md.
fleet-load: bin/shadow
	$(GO) run ./scripts/fleetload run -sessions $(or $(JVMS),1000) -shadows $(or $(SHADOWS),2) -for $(or $(TIME),90s) $(if $(DIR),-dir $(DIR))

# Sizes of packages, files and functions; run it on two commits to compare them.
house:
	@$(GO) run ./scripts/house -packages

clean:
	rm -rf bin build demo jvmti/helper
