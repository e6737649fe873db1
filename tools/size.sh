#!/usr/bin/env bash
# Prints the lines of Go of the program and of its tests, with helpers that only tests use, and how many
# lines of the program are over 110 columns, with tabs as 4. Fails above the limits, which only a commit
# that says why raises.
set -euo pipefail
cd "$(dirname "$0")/.."

program_limit=38500
tests_limit=22700
long_limit=0

helpers='testkit|testlab|baselinetest|networktest'
files=$(find . -name '*.go')
program=$(grep -v '_test\.go$' <<<"$files" | grep -vE "$helpers")
tests=$(grep -E "_test\.go$|$helpers" <<<"$files")
failed=0

limit() { # LINES LIMIT WHAT
	printf '%6d of %6d %s\n' "$1" "$2" "$3"
	if [ "$1" -gt "$2" ]; then
		echo "size.sh: expected at most $2 $3, found $1" >&2
		failed=1
	fi
}

limit "$(xargs cat <<<"$program" | wc -l)" $program_limit "lines of program"
limit "$(xargs cat <<<"$tests" | wc -l)" $tests_limit "lines of tests"
long=$(xargs cat <<<"$program" | sed 's/\t/    /g' | LC_ALL=C.UTF-8 grep -cE '^.{111}' || true)
limit "$long" $long_limit "lines of program over 110 columns"
exit $failed
