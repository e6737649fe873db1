#!/usr/bin/env bash
# axe.sh FILE SHA256: downloads axe-core to FILE from the npm registry, if it is not there, and checks its SHA-256.
set -euo pipefail
file=$1 want=$2 version=4.11.0
digest() { if command -v sha256sum >/dev/null; then sha256sum "$1"; else shasum -a 256 "$1"; fi | cut -d ' ' -f 1; }
if [ ! -f "$file" ]; then
	command -v npm >/dev/null || { echo "axe: expected npm to download axe-core $version, found none. Install npm, or name" \
		"the file axe.min.js with AXE=FILE. AXE=none leaves out the checks of accessibility." >&2; exit 1; }
	folder=$(mktemp -d)
	trap 'rm -rf "$folder"' EXIT
	(cd "$folder" && npm pack --silent "axe-core@$version" >/dev/null && tar xzf ./*.tgz package/axe.min.js) || {
		echo "axe: cannot download axe-core $version from the npm registry. Try again, or name the file axe.min.js" \
			"with AXE=FILE. AXE=none leaves out the checks of accessibility." >&2; exit 1; }
	mkdir -p "$(dirname "$file")"
	mv "$folder/package/axe.min.js" "$file"
fi
found=$(digest "$file")
[ "$found" = "$want" ] || { echo "axe: $file: expected the SHA-256 $want, found $found. Delete the file." >&2; exit 1; }
