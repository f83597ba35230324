#!/bin/sh
# hpcc, which reads hpccinf.txt and writes hpccoutf.txt where it is started: a directory of its own for each rank. Rank 0
# alone reads and writes; what it wrote is printed.
set -eu
input=$(dirname "$(realpath "$0")")/inputs/hpccinf.txt
directory=$(mktemp -d)
trap 'rm -rf "$directory"' EXIT
cd "$directory"
cp "$input" hpccinf.txt
hpcc
[ ! -f hpccoutf.txt ] || grep -E '^MPIRandomAccess_time=' hpccoutf.txt
