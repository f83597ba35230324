#!/bin/sh
# fuzz/run.sh [SECONDS [SEED]] : builds the fuzzers and runs them, two at a time, each for a quarter of SECONDS (60), from
# seeds of real traces. Those of what Python reads take the package of .venv. Fails on the first finding and leaves its
# input in build/fuzz/findings. What fuzzing reached is kept in build/fuzz/corpus, and every run goes on from there. SEED
# (another each time) starts the random numbers: with the same seed, code and corpus, the inputs are the same.
# The fuzzers share the build of the unit tests with sanitizers.
set -eu
cd "$(dirname "$0")/.."
seconds=${1:-60}
seed=${2:-0} # of libFuzzer; 0: the time
build=build/fuzz
programs=build/asan/fuzz

fail() {
    tail -n 40 "$1" >&2
    echo "fuzz/run.sh: $2" >&2
    exit 1
}

mkdir -p $build
tools/configure_preset.sh asan
cmake --build --preset asan --target fuzzers >$build/build.log 2>&1 || fail $build/build.log "the build failed"
for run in tests/data/v*/*/; do
    $programs/make_seeds "$run" $build/seeds/"$(echo "$run" | tr / -)"
done
# What verbs_fuzz.py takes.
in_python="rounds metadata study requests run"
.venv/bin/python -c 'import atheris' 2>/dev/null || {
    echo "fuzz/run.sh: no Atheris: tools/venv.sh build study test installs it" >&2
    exit 1
}
mkdir -p $build/seeds/python/metadata $build/seeds/python/study $build/seeds/python/run
for run in tests/data/v*/*/; do
    version=$(basename "$(dirname "$run")")
    cp "$run"meta.json "$build/seeds/python/metadata/$version.json"
    for file in "$run"*.tare; do cp "$file" "$build/seeds/python/run/$version-$(basename "$file")"; done
done
cp studies/*.toml $build/seeds/python/study
mkdir -p $build/findings
import=import
[ -x $programs/import_fuzz ] || import= # libotf2 is not installed

# FUZZER... : runs one after the other.
run() {
    for fuzzer in "$@"; do
        mkdir -p $build/corpus/$fuzzer
        # Packets and specs make their own.
        seeds=$(ls -d $build/seeds/*/$fuzzer fuzz/seeds/$fuzzer 2>/dev/null || true)
        command=$programs/${fuzzer}_fuzz
        case " $in_python " in
            *" $fuzzer "*) command="env PYTHONHASHSEED=0 .venv/bin/python fuzz/verbs_fuzz.py $fuzzer" ;;
        esac
        $command -max_total_time=$((seconds / 4)) -max_len=65536 -timeout=10 \
            -seed=$seed -rss_limit_mb=2048 -malloc_limit_mb=-1 -artifact_prefix=$build/findings/$fuzzer- -print_final_stats=1 \
            $build/corpus/$fuzzer $seeds >$build/$fuzzer.log 2>&1 ||
            fail $build/$fuzzer.log "${fuzzer}_fuzz found something; see $build/$fuzzer.log and $build/findings"
        echo "${fuzzer}_fuzz: $(sed -n 's/stat::number_of_executed_units: *//p' $build/$fuzzer.log) inputs, no finding"
    done
}

# Two at a time: a fuzzer has one thread.
run reader archive segment packet metadata study &
others=$!
trap 'kill $others 2>/dev/null || true' EXIT
run spec litl $import rounds requests run
wait $others
