#!/usr/bin/env bash
# Writes archives of the program for several platforms into a folder, with their SHA-256, and tries those for
# this machine. The same commit and version of Go give the same bytes. Needs git, GNU tar and gzip.
set -euo pipefail
out=$(mkdir -p "${1:?usage: dist.sh FOLDER}" && cd "$1" && pwd)
cd "$(git rev-parse --show-toplevel)"
version=$(git describe --tags --always --dirty)
work=$(mktemp -d)
trap 'kill $(jobs -p) 2>/dev/null || true; rm -rf "$work"' EXIT

build() { # FILE SYSTEM PROCESSOR TAG: without C and without the paths of this machine
  CGO_ENABLED=0 GOFLAGS= GOOS=$2 GOARCH=$3 go build -trimpath -buildvcs=true -ldflags='-s -w' -tags "$4" -o "$1" ./cmd/lago-train
}

try() ( # FOLDER of the program, which runs in an empty one as a new user does
  mkdir "$1/empty"
  cd "$1/empty"
  ../lago-train run --seeds 1 --epochs 2
  ../lago-train predict --model latest --dataset glyphs --to predictions.csv
  ../lago-train docs quickstart
  ../lago-train serve glyphs --model latest >address &
  for _ in $(seq 100); do grep -q http address && break || sleep 0.1; done
  exec 3<>"/dev/tcp/127.0.0.1/$(grep -om1 '127.0.0.1:[0-9]*' address | cut -d: -f2)"
  printf 'GET / HTTP/1.0\r\nHost: 127.0.0.1\r\n\r\n' >&3
  grep '<html' <&3
  kill %1
)

here=$(go env GOOS)-$(go env GOARCH)
build "$work/here" "${here%-*}" "${here#*-}" ''
# The programs for Linux and macOS open a BLAS library through the C library of the system; the static ones
# need none.
for platform in linux-amd64 linux-arm64 linux-amd64-static linux-arm64-static darwin-amd64 darwin-arm64 windows-amd64 windows-arm64; do
  IFS=- read -r system processor tag <<<"$platform"
  name=lago-train-$version-$platform
  mkdir -p "$work/$name/completions"
  build "$work/$name/lago-train$([ "$system" != windows ] || echo .exe)" "$system" "$processor" "$tag"
  git ls-files README.md LICENSE CHANGELOG.md docs ':!*.go' | xargs cp --parents -t "$work/$name"
  for shell in bash zsh fish; do "$work/here" completion $shell >"$work/$name/completions/lago-train.$shell"; done
  tar -C "$work" --sort=name --owner=0 --group=0 --numeric-owner --mode=u=rwX,go=rX --mtime="$(git log -1 --format=@%ct)" -c "$name" | gzip -n >"$out/$name.tar.gz"
  [[ $platform != "$here"* ]] || try "$work/$name" >"$work/log" 2>&1 || { cat "$work/log" >&2; exit 1; }
done
(cd "$out" && sha256sum -- *.tar.gz | tee SHA256SUMS)
