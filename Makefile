# make        builds; afterwards .venv/bin/tare is the command
# make demo   measures a real program
# make check  the quick tests: format, types, unit tests, one measured run
# make test   everything there is to test, but for make test-long
# make bench  what measuring costs
# make wheel  wheels that run elsewhere, MACHINE=aarch64 on another processor; make test-wheel tests them as somebody who has
#             nothing else
# make test-aarch64  unit tests, MPI programs and the wheel on an emulated processor
# make deb    a Debian package; make test-install tests it, and other ways to install tare, as somebody else
# make docs   the documentation as a site, build/docs/site
# make release  all of that, and dist/ as it is published
# make test-slurm  jobs of Slurm over two nodes of this machine
# make coverage, make mutants  what the tests reach, and what they notice
# make format, make lint, make sanitize, make clean
.DEFAULT_GOAL := all
.PHONY: all demo check test test-long bench docs release wheel test-wheel test-aarch64 deb test-install test-slurm sanitize coverage mutants format lint clean

RELEASE := build/release
PYTHON := .venv/bin/python

all:
	@tools/apt.sh build --optional optional
	@tools/venv.sh build
	@tools/build.sh

demo:
	@tools/apt.sh build demo --optional optional
	@tools/venv.sh build
	@tools/build.sh TARE_WORKLOADS
	@tools/demo.sh

# Developers' builds: warnings are errors.
DEVELOPER := TARE_WORKLOADS TARE_TESTS CMAKE_COMPILE_WARNING_AS_ERROR

check:
	@tools/apt.sh build optional test lint
	@tools/venv.sh build study test lint
	@tools/build.sh $(DEVELOPER) unit_tests
	@tools/lint.sh quick
	@ctest --preset release -j2 --output-log $(RELEASE)/ctest.log
	@$(PYTHON) -m pytest -q -n 2 tests/unit
	@tools/smoke.sh

# C++ unit tests run with sanitizers here, and as they are built for users in `make check`.
# Integration tests wait for processes a lot: three at a time keep two processors busy. What fails then is told, and run
# again by itself: launchers kill ranks sooner or later, as the others on the machine let them. The last lines name what
# was run again (tests/conftest.py).
test:
	@rm -f build/repeated.txt
	@tools/apt.sh build optional test lint
	@tools/venv.sh build study test lint
	@tools/mpi.sh
	@tools/build.sh $(DEVELOPER)
	@tools/lint.sh changed
	@ctest --preset release -LE unit -j2 --output-log $(RELEASE)/ctest.log
	@tools/sanitize.sh asan
	@$(PYTHON) -m pytest -n 2 tests/unit
	@$(PYTHON) -m pytest -n 3 --dist worksteal --cache-clear --durations 15 -m "not alone and not long" tests/integration tests/study || \
	 { [ $$? -eq 1 ] && $(PYTHON) -m pytest --last-failed --last-failed-no-failures none tests/integration tests/study; }
	@$(PYTHON) -m pytest -m "alone and not long" tests/integration tests/study
	@fuzz/run.sh 8 1
	@[ ! -s build/repeated.txt ] || { echo "These tests passed only when they were repeated:"; cat build/repeated.txt; }

# Programs of others that take a minute each.
test-long:
	@tools/apt.sh build optional test
	@tools/venv.sh build study test
	@tools/mpi.sh
	@tools/build.sh $(DEVELOPER)
	@$(PYTHON) -m pytest -m long tests/integration tests/study

bench:
	@tools/apt.sh build optional demo bench
	@tools/venv.sh build study bench
	@tools/build.sh TARE_WORKLOADS TARE_BENCH
	@bench/run.sh

docs: all
	@tools/venv.sh docs
	@tools/docs.sh

# RELEASE_TESTS: what it must pass.
RELEASE_TESTS := check test test-long test-slurm test-wheel test-aarch64 test-install

release:
	@tools/release.sh check
	@rm -rf dist
	@for target in $(RELEASE_TESTS) wheel docs; do $(MAKE) --no-print-directory $$target || exit; done
	@$(MAKE) --no-print-directory wheel MACHINE=aarch64
	@tools/release.sh pack

wheel:
	@tools/apt.sh build optional wheel $(MACHINE)
	@tools/venv.sh build wheel
	@tools/wheel.sh $(MACHINE)

test-wheel: wheel
	@tools/apt.sh test root
	@tools/venv.sh test
	@tools/root.sh debian-11
	@tools/root.sh debian-14
	@$(PYTHON) -m pytest -v tests/install/test_wheel.py tests/install/test_older_debian.py tests/install/test_newer_debian.py

# Call paths are those of the assembly and the unwinder. A program of this machine is not run there. qemu takes more than
# five minutes for it, so CI does not run it.
test-aarch64: MACHINE := aarch64
test-aarch64: wheel
	@tools/apt.sh test root
	@tools/venv.sh test
	@tools/root.sh $(MACHINE)
	@tools/emulated_tests.sh $(MACHINE)
	@TARE_TEST_MACHINE=$(MACHINE) $(PYTHON) -m pytest -v --timeout 2400 -k "not solver_of_debian" \
	  tests/install/test_aarch64.py tests/integration/test_paths.py

deb:
	@tools/apt.sh build optional deb
	@tools/venv.sh build
	@tools/deb.sh

test-install: all deb
	@tools/apt.sh test install
	@tools/venv.sh test
	@$(PYTHON) -m pytest tests/install/test_deb.py tests/install/test_prefix.py

# Jobs of Slurm over two nodes, one test at a time: they share the control groups of the machine.
test-slurm:
	@tools/apt.sh build test
	@tools/venv.sh build test
	@tools/build.sh
	@$(PYTHON) -m pytest tests/slurm

# The unit tests under ASan with UBSan, and under TSan; MPI_THREAD_MULTIPLE under TSan.
sanitize:
	@tools/apt.sh build optional test
	@tools/venv.sh build
	@tools/sanitize.sh asan tsan
	@tools/threads_tsan.sh

# Which lines of C++ and Python are reached. TESTS: arguments of pytest, for more than its unit tests.
coverage:
	@tools/apt.sh build optional test
	@tools/venv.sh build study test coverage
	@tools/build.sh TARE_TESTS
	@tools/coverage.sh $(TESTS)

# How many small changes of the code unit tests notice. MUTANTS: arguments of tests/support/mutants.py.
mutants:
	@tools/apt.sh build optional test
	@tools/venv.sh build study test coverage
	@tools/build.sh TARE_TESTS
	@$(PYTHON) tests/support/mutants.py $(MUTANTS)

# Programs with expectations at the ends of their lines stay as they are.
CXX_FILES = git ls-files -co --exclude-standard '*.cpp' '*.h' '*.hpp' '*.c' ':!tests/programs'

format:
	@tools/apt.sh lint
	@tools/venv.sh build lint
	@$(CXX_FILES) | xargs -r clang-format -i
	@.venv/bin/ruff format --quiet .
	@.venv/bin/ruff check --quiet --fix .

lint: all
	@tools/apt.sh lint
	@tools/venv.sh build study lint
	@tools/lint.sh

clean:
	rm -rf build .venv
