#!/bin/sh
# Milliseconds per step of W and V against the same model in PyTorch, one program after the other, with
# their ratio: the table of docs/benchmarks.md. The PyTorch program is not part of this repository.
#
#   PEER=folder LAGO_DATA=folder tools/bench-torch.sh path/to/lago-train
#
#   PEER    folder of lago_torch.py and xlsa_to_npz.py
#   TURNS   pairs of runs per variant (default: 2)
#   PYTHON  a Python with PyTorch and SciPy (default: /usr/bin/python3)
set -eu

lago=${1:?usage: bench-torch.sh path/to/lago-train}
case $lago in /*) ;; *) lago=$PWD/$lago ;; esac
: "${PEER:?the folder of lago_torch.py}" "${LAGO_DATA:?the folder that holds cub127}" "${TURNS:=2}" "${PYTHON:=/usr/bin/python3}"
PEER=$(cd "$PEER" && pwd) LAGO_DATA=$(cd "$LAGO_DATA" && pwd)
export LAGO_DATA
folder=$(find -L "$LAGO_DATA" -maxdepth 1 -iname cub127 | head -n 1)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
"$PYTHON" "$PEER/xlsa_to_npz.py" "$folder" res50.mat cub127.npz >/dev/null

sed -n 's/^model name[^:]*: //p' /proc/cpuinfo 2>/dev/null | head -n 1
printf '%-14s %-6s %10s %11s %6s\n' variant phase PyTorch lago-train ratio
for pair in semantic-hard:SemanticHard k-soft:KSoft semantic-soft:SemanticSoft singletons:Singletons; do
  turn=0
  while [ $((turn += 1)) -le "$TURNS" ]; do
    rm -rf runs
    "$lago" run --dataset cub127 --method "${pair%:*}" --stage dev --seeds 1 --epochs 3 --preprocess none --quiet >/dev/null
    "$PYTHON" "$PEER/lago_torch.py" cub127.npz --variant "${pair#*:}" --epochs 2 2>/dev/null | tail -n 1 >torch.json
    cat runs/*/curve.jsonl | "$PYTHON" -c '
import json, statistics, sys
torch, phases = json.load(open("torch.json")), {}
for line in sys.stdin:
    for p in json.loads(line)["phases"]:
        phases.setdefault(p["name"], []).append(1e3 * p["seconds"] / p["steps"])
for name, ms in phases.items():
    ours, theirs = statistics.median(ms), torch["ms_per_step_" + name]
    print(f"{sys.argv[1]:14} {name:6} {theirs:10.1f} {ours:11.2f} {ours / theirs:6.2f}")
' "${pair%:*}"
  done
done
