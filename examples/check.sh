#!/bin/sh
# usage: check.sh PROGRAM
# Runs an example in this folder, once for each file cases/<name of PROGRAM>/CASE.args, with the arguments in that file
# (as words of the shell) and CASE.in as standard input. Its output must be CASE.out, its errors CASE.err and its exit
# status what CASE.status holds; a file that is not there stands for no output, or for status 0.
set -u
program=$(cd "$(dirname "$1")" && pwd)/$(basename "$1") || exit 2
cd "$(dirname "$0")" || exit 2
scratch=$(mktemp -d) || exit 2
trap 'rm -rf "$scratch"' EXIT

or_nothing() { if [ -f "$1" ]; then echo "$1"; else echo /dev/null; fi; }

failures=0
count=0
for args in cases/"$(basename "$program")"/*.args; do
    [ -f "$args" ] || { echo "no cases for $program" >&2; exit 2; }
    case=${args%.args}
    expected=0
    [ -f "$case.status" ] && expected=$(cat "$case.status")
    eval "set -- $(cat "$args")"
    "$program" "$@" <"$(or_nothing "$case.in")" >"$scratch/out" 2>"$scratch/err"
    status=$?
    count=$((count + 1))
    good=yes
    [ "$status" -eq "$expected" ] || { echo "$case: exit status $status, expected $expected" >&2; good=no; }
    diff -u "$(or_nothing "$case.out")" "$scratch/out" >&2 || good=no
    diff -u "$(or_nothing "$case.err")" "$scratch/err" >&2 || good=no
    [ "$good" = yes ] || { echo "$case: failed" >&2; failures=$((failures + 1)); }
done
echo "$count cases, $failures failed"
[ "$failures" -eq 0 ]
