# make        builds; afterwards .venv/bin/tare is the command
# make demo   measures a real program
# make test   everything there is to test
# make bench  what measuring costs
# make format, make lint, make sanitize, make clean
.DEFAULT_GOAL := all
.PHONY: all demo test bench sanitize format lint clean

RELEASE := build/release
PYTHON := .venv/bin/python

all:
	@tools/apt.sh build
	@tools/venv.sh build
	@tools/build.sh

demo:
	@tools/apt.sh build demo
	@tools/venv.sh build
	@tools/build.sh TARE_WORKLOADS
	@tools/demo.sh

test:
	@tools/apt.sh build test
	@tools/venv.sh build study test
	@tools/mpi.sh
	@tools/build.sh TARE_WORKLOADS TARE_TESTS
	@ctest --preset release --output-log $(RELEASE)/ctest.log
	@$(PYTHON) -m pytest tests
	@fuzz/run.sh 60

bench:
	@tools/apt.sh build demo bench
	@tools/venv.sh build study
	@tools/build.sh TARE_WORKLOADS TARE_BENCH
	@bench/run.sh

# The unit tests under ASan, UBSan and TSan, and MPI_THREAD_MULTIPLE under TSan.
sanitize:
	@tools/apt.sh build test
	@tools/venv.sh build
	@for preset in asan ubsan tsan; do \
		cmake --preset $$preset >/dev/null && cmake --build --preset $$preset && ctest --preset $$preset || exit 1; \
	done
	@tools/threads_tsan.sh

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
	@$(CXX_FILES) | xargs -r clang-format --dry-run -Werror
	@git ls-files -co --exclude-standard 'src/*.cpp' | xargs -r -P2 -n4 clang-tidy --quiet -p $(RELEASE)
	@.venv/bin/ruff format --check .
	@.venv/bin/ruff check .
	@.venv/bin/mypy

clean:
	rm -rf build .venv
