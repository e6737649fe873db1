#!/usr/bin/env bash
# Runs the ablation grid on glyphs as an array of a real Slurm on this machine, kills
# one of its tasks midway, requeues it, and checks that every trial ended once.
#
# Needs root, slurm-wlm and munge (Debian: apt-get install slurm-wlm munge). All that
# it starts lives in a temporary folder and ends with the script.
set -euo pipefail

lago=${1:?usage: slurm-check.sh path/to/lago-train}
lago=$(realpath "$lago")
for program in munged slurmctld slurmd sbatch scontrol; do
  command -v "$program" >/dev/null || { echo "slurm-check: $program is missing: apt-get install slurm-wlm munge" >&2; exit 1; }
done

work=$(mktemp -d)
pids=()
finish() {
  status=$?
  for pid in "${pids[@]}"; do kill "$pid" 2>/dev/null || true; done
  wait 2>/dev/null || true
  if [ "$status" -ne 0 ]; then
    echo "slurm-check: failed; the logs:" >&2
    tail -n 15 "$work"/*.log "$work"/task-*.out >&2 2>/dev/null || true
  fi
  rm -rf "$work"
}
trap finish EXIT

# Munge, by which the daemons trust each other.
mkdir -m 0755 "$work/munge"
(umask 077 && head -c 1024 /dev/urandom >"$work/munge/key")
munged --foreground --force --key-file="$work/munge/key" --socket="$work/munge/socket" \
  --pid-file="$work/munge/pid" --log-file="$work/munge/log" --seed-file="$work/munge/seed" >"$work/munged.log" 2>&1 &
pids+=($!)

# A cluster of one node, this machine.
node=$(hostname -s)
mkdir "$work/state" "$work/spool"
cat >"$work/slurm.conf" <<EOF
ClusterName=check
SlurmctldHost=$node(127.0.0.1)
SlurmctldPort=26817
SlurmdPort=26818
SlurmUser=root
AuthType=auth/munge
AuthInfo=socket=$work/munge/socket
CryptoType=crypto/munge
MpiDefault=none
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
SelectType=select/cons_tres
SelectTypeParameters=CR_CPU
StateSaveLocation=$work/state
SlurmdSpoolDir=$work/spool
SlurmctldPidFile=$work/slurmctld.pid
SlurmdPidFile=$work/slurmd.pid
SlurmctldLogFile=$work/slurmctld.log
SlurmdLogFile=$work/slurmd.log
ReturnToService=2
SchedulerParameters=sched_interval=1,batch_sched_delay=0
NodeName=$node NodeAddr=127.0.0.1 CPUs=$(nproc) State=UNKNOWN
PartitionName=all Nodes=ALL Default=YES MaxTime=INFINITE State=UP
EOF
export SLURM_CONF=$work/slurm.conf
slurmctld -D >/dev/null 2>&1 &
pids+=($!)
slurmd -D >/dev/null 2>&1 &
pids+=($!)

wait_for() { # seconds, what, command...
  local left=$1 what=$2
  shift 2
  until "$@" >/dev/null 2>&1; do
    left=$((left - 1))
    if [ "$left" -le 0 ]; then echo "slurm-check: waited in vain for $what" >&2; exit 1; fi
    sleep 1
  done
}
idle() { sinfo -h -o %T | grep -qx idle; }
wait_for 60 "the node to be idle" idle

out=$work/trials
finished() { find "$out" -name result.json 2>/dev/null | wc -l; }
some_finished() { [ "$(finished)" -ge 1 ] && [ -n "$(squeue -h -t R -j "${job}_1" 2>/dev/null)" ]; }
over() { [ -z "$(squeue -h -j "$job" 2>/dev/null)" ]; }

job=$(sbatch --parsable --array=0-1 --cpus-per-task=1 --requeue --open-mode=append \
  --output="$work/task-%a.out" --wrap \
  "exec '$lago' ablate --dataset glyphs --seeds 1 --epochs 60 --jobs 1 --out '$out' --log-level debug")
echo "array $job: two tasks for the 8 trials of the ablation"

wait_for 120 "a trial to end" some_finished
scancel --signal=KILL --full "${job}_1"
echo "killed task 1 with $(finished) of 8 trials finished"
requeue() { scontrol requeue "${job}_1"; }
wait_for 30 "task 1 to be requeued" requeue
wait_for 300 "the array to end" over

[ "$(finished)" -eq 8 ] || { echo "slurm-check: expected 8 finished trials, found $(finished)" >&2; exit 1; }
ended=$(cat "$work"/task-*.out | grep -o 'run=glyphs[^ ]*' | sort)
twice=$(echo "$ended" | uniq -d)
[ -z "$twice" ] || { echo "slurm-check: trials that ended twice: $twice" >&2; exit 1; }
[ "$(echo "$ended" | wc -l)" -eq 8 ] || { echo "slurm-check: expected 8 trials to end, found: $ended" >&2; exit 1; }
"$lago" ablate --dataset glyphs --seeds 1 --epochs 60 --out "$out" --quiet
echo "slurm-check: every one of the 8 trials ended once"
