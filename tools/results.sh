#!/bin/sh
# Runs the commands of docs/results.md and writes the page with what they print.
#
# usage: results.sh path/to/lago-train, with these variables:
#   SECTIONS     sections to run, as in "rotation search"; "none" only writes the page (default: all)
#   SEEDS EPOCHS PATIENCE TUNE BUDGET METHODS DATASET   the scale, see below; METHODS are those of the split
#   ROTATE ROTATE_SEEDS ROTATE_PATIENCE   parts, seeds and patience of the rotation, which takes
#                the longest
#   RESULTS_DIR  folder for runs and outputs (default: lago-train/results in the user's cache)
#   PAGE         file to write; its figures go to a folder beside it (default: docs/results.md)
#
# A section that was run by the same commands is kept: remove its folder in
# $RESULTS_DIR/sections to run it again. Sections that were not run at this scale appear as
# they were run before, if ever. Interrupted runs resume and finished runs are reused.
set -eu

absolute() { case $1 in /*) echo "$1" ;; *) echo "$PWD/$1" ;; esac }

lago=$(absolute "${1:?usage: results.sh path/to/lago-train}")
: "${SECTIONS:=all}" "${DATASET:=cub127}" "${LAGO_DATA:=data}"
: "${METHODS:=lago,semantic-hard,singletons,k-soft,semantic-soft,dap,iap,ale,eszsl,sync,sje,devise,kernel}"
: "${SEEDS:=5}" "${EPOCHS:=60}" "${PATIENCE:=15}" "${TUNE:=16}" "${BUDGET:=120}" "${ROTATE:=5}" "${ROTATE_SEEDS:=3}" "${ROTATE_PATIENCE:=10}"
: "${RESULTS_DIR:=${XDG_CACHE_HOME:-$HOME/.cache}/lago-train/results}"
: "${PAGE:=$(dirname "$0")/../docs/results.md}"

PAGE=$(absolute "$PAGE") LAGO_DATA=$(absolute "$LAGO_DATA") RESULTS_DIR=$(absolute "$RESULTS_DIR")
work=$RESULTS_DIR/epochs$EPOCHS-patience$PATIENCE
mkdir -p "$RESULTS_DIR/bin" "$work/searches" "${PAGE%.md}"
ln -sf "$lago" "$RESULTS_DIR/bin/lago-train"
PATH=$RESULTS_DIR/bin:$PATH
TOOLS=$(absolute "$(dirname "$0")")
export PATH LAGO_DATA TOOLS
trap 'exit 130' INT TERM

# The sections. section takes a data set, a name, a heading, figures of the report, the text,
# and the commands on stdin.

scale="--seeds $SEEDS --epochs $EPOCHS --patience $PATIENCE"

sections() {
  folder=$work
  text '# Results

How accurate are the methods on real data, and which is better? This page is written by `make results`: each table is what the command above it printed, and each
figure was drawn by `lago-train report`. The commands ran with `$LAGO_DATA` set: rotation, comparison,
search and adaptation in one folder, all others in another, so that they share runs.
Sections whose last line has a date before 2026-11-24 are of earlier versions, whose defaults had no
correction of the scores.

How to read the tables:

- "95 % over classes" is a bootstrap interval: how much a number depends on which classes happen
  to be evaluated. "s.e.m. over seeds" is how much it depends on the seed.
- Two methods whose intervals overlap can still differ: the tables of differences compare them
  class by class.
- A validation accuracy chose something (epochs, settings, a variant), so it is optimistic.
- Each command evaluates a method once on the test classes. But these were evaluated by every
  section below, and often while the program was written, so their accuracies may be optimistic,
  too, most of all those of LAGO. Do not compare sections by differences of a point.
'
  text "## $DATASET"
  if [ "$DATASET" = cub127 ]; then
    text '
`cub127` is real: photographs of bird species of CUB-200-2011 (those whose photographs could be
obtained, cropped to the bird), as pooled features of an ImageNet ResNet-50, with the class
descriptions and groups of the LAGO archive. It cannot be downloaded, and its numbers are not
comparable with published ones: other features, other crops, fewer classes. It serves to compare
methods with each other.'
  fi
  section "$DATASET" data 'Data' '' '' <<END
lago-train dataset info $DATASET | head -n 12
END
  questions "$DATASET" ''
  folder=$work/searches
  section "$DATASET" rotation 'LAGO and its baselines, each class unseen once' 'rotation rotation-differences rotation-tries' \
'The classes are divided into parts, and each part in turn has the unseen classes. For each part,
every method tries the same number of settings, including preprocessing and correction, on the validation
classes; LAGO divides them among its variants, and ESZSL, a closed form, tries its whole grid. The last column of the
differences has their means in each part. An interval conditions on the partition, and the parts share most of their
training classes.

One of the settings that each variant tries, the general defaults, was chosen on cub127 among other
data, with some of these classes. Of a baseline, the preprocessing that every search tries early, the correction that it
starts from and the ranges that kernel alignment searches were chosen on cub127, too ([settings](settings.md) lists every
constant). This favours LAGO and, less, the others. **All defaults are frozen since 2026-11-24**; none will be changed by
results on these classes. Earlier results of this rotation, with fewer settings and without correction, by which they were
changed: LAGO 76.7 %, kernel alignment 78.6 %, ESZSL 73.7 %, SJE 72.7 %, ALE 72.0 %, SynC 70.1 %, DeViSE 69.5 %, DAP 57.6 %,
IAP 49.8 %.

The second table leaves out the species that the network of the features may know, because they are classes of
ImageNet: four exactly (Indigo Bunting, European Goldfinch, Mallard, Red-breasted Merganser), and then also 14 nearly, since
ImageNet has their genus, family or a close relative as a class (three albatrosses, three hummingbirds and Green Violetear,
Blue and Green Jay, two pelicans, American Goldfinch, Hooded Merganser, Purple Finch).' <<END
lago-train compare --dataset $DATASET --rotate $ROTATE --tune $TUNE --seeds $ROTATE_SEEDS --epochs $EPOCHS --patience $ROTATE_PATIENCE --csv rotation.csv
awk -v without='014 048 087 090' -f \$TOOLS/without.awk rotation.csv
awk -v without='014 048 087 090 001 002 003 067 068 069 070 073 075 100 101 047 089 035' -f \$TOOLS/without.awk rotation.csv
END
  section "$DATASET" ladder 'Step by step' 'ladder' \
'LAGO with the settings that its authors published for CUB, and then with one setting after the other changed to the
general default. ESZSL tries all pairs of its ridges in each step.' <<END
lago-train compare --ladder --dataset $DATASET --rotate $ROTATE --seeds 1 --epochs $EPOCHS --patience $ROTATE_PATIENCE
END
  section "$DATASET" groups 'Do groups matter?' 'semantic-groups' \
'Semantic-hard with the groups of the data set, without groups (singletons, with their own defaults and with the settings of
semantic-hard), and with random groups of the same sizes. All have the general defaults.' <<END
lago-train ablate --groups --dataset $DATASET --rotate $ROTATE --seeds 1 --epochs $EPOCHS --patience $ROTATE_PATIENCE
END
  section "$DATASET" subsets 'Less data' 'subsets-classes subsets-samples subsets-attributes subsets-groups subsets-entries' \
'Semantic-hard with its general defaults on random subsets of the seen classes, of the photographs of each, of the attributes, of
the groups, and of the described entries of each class. [Describing classes](describing-classes.md) says what follows.' <<END
lago-train subsets --of classes --sizes 10,20,40,60 --dataset $DATASET --rotate 4 --draws 1 --seeds 1 --epochs $EPOCHS --patience $ROTATE_PATIENCE
lago-train subsets --of samples --sizes 2,5,10,20 --dataset $DATASET --rotate 4 --draws 1 --seeds 1 --epochs $EPOCHS --patience $ROTATE_PATIENCE
lago-train subsets --of attributes --sizes 31,62,125,187 --dataset $DATASET --rotate 4 --draws 1 --seeds 1 --epochs $EPOCHS --patience $ROTATE_PATIENCE
lago-train subsets --of groups --sizes 3,6,11,17 --dataset $DATASET --rotate 4 --draws 1 --seeds 1 --epochs $EPOCHS --patience $ROTATE_PATIENCE
lago-train subsets --of entries --sizes 31,62,125,187 --dataset $DATASET --rotate 4 --draws 1 --seeds 1 --epochs $EPOCHS --patience $ROTATE_PATIENCE
END
  section "$DATASET" partitions 'Other partitions of the classes' '' \
'The rotation with three partitions of the classes into parts, with the defaults: levels move with the partition, differences
by less. By the mean over partitions, ESZSL is more accurate than semantic-hard here.' <<END
lago-train compare --dataset $DATASET --rotate $ROTATE --partitions 3 --methods semantic-hard,eszsl,kernel --tune 0 --seeds 1 --epochs $EPOCHS --patience $ROTATE_PATIENCE
END
  section "$DATASET" compare 'LAGO and its baselines on one split' 'compare compare-differences compare-tries' \
'The unseen classes are the test classes of the data set. Every method tries the same number of
settings on folds of the seen classes, and is evaluated once on the test classes: without adaptation
(inductive), and adapted to all unlabelled samples of the test classes together (transductive).' <<END
lago-train compare --dataset $DATASET --methods $METHODS --tune $TUNE $scale --adapt
END
  section "$DATASET" adapted 'Adapted methods' '' \
'The same classes: differences between adapted methods, which are tested.
No settings are searched: LAGO has those published for CUB, and no method preprocesses its features.
Clustering does much of the gain, which is the largest for the least accurate methods: adapted, none can be ranked.' <<END
lago-train compare --dataset $DATASET --methods semantic-hard,dap,iap,ale,eszsl,sync,sje,devise,kernel --tune 0 --seeds 1 --epochs $EPOCHS --patience $PATIENCE --adapt
END
  section "$DATASET" search 'Searched settings' '' \
'Settings of semantic-hard, chosen over folds of the seen classes and evaluated once on the test
classes.' <<END
lago-train search --dataset $DATASET --variant semantic-hard --budget $BUDGET --epochs $EPOCHS --patience $PATIENCE
lago-train run --config runs/search-$DATASET-semantic-hard.json --seeds $SEEDS
END
  section "$DATASET" adaptation 'Adaptation to unlabelled samples' '' \
'With `--adapt`, predictions are adapted to all unlabelled samples of the unseen classes together
(transductive); its settings are chosen on the validation classes. `--stress` repeats it with random
batches: absent classes, imbalanced classes, few samples.' <<END
lago-train run --dataset $DATASET --seeds 1 --epochs $EPOCHS --patience $PATIENCE --out adaptation
lago-train evaluate --model adaptation/$DATASET-semantic-hard-test-seed0-* --adapt --stress 20
END
  text '
## Synthetic glyphs

Letters and digits that the program draws, described by their shapes: no download is needed to
repeat these.'
  folder=$work
  questions glyphs glyphs-
  text '
Next: [Benchmarks](benchmarks.md).'
}

# questions has the sections of a data set ($1), with names that start with $2, that ask one
# question of the model.
questions() {
  protocol='The variants have the general defaults, with preprocessing, which were chosen on folds of these seen
classes among other data. ESZSL has the preprocessing of semantic-hard and the best of
16 settings by validation accuracy.'
  [ "$1" != cub127 ] || protocol='The variants have the settings that the authors published for CUB: not searched on these features, and
without preprocessing. At most 60 epochs cut k-soft, for which the authors used 160 (test stage) and
200 (dev stage). ESZSL has the best of 16 settings by validation accuracy.'
  section "$1" "$2reproduce" "The paper's protocol" 'reproduction' "$protocol" <<END
lago-train reproduce --dataset $1 $scale
END
  section "$1" "$2ablate" 'Design decisions' 'ablation' \
'The designs of Table A.2 of the paper, and the attribute prior per group.' <<END
lago-train ablate --dataset $1 --per-group $scale
END
  section "$1" "$2sweep-k" 'Number of groups' 'sweep-k' \
'Learned groups of k-soft, against each attribute as its own group and the semantic groups.' <<END
lago-train sweep-k --dataset $1 $scale
END
  section "$1" "$2noise" 'Noise in the class descriptions' 'noise' \
'Entries of the descriptions of the test classes are replaced by 0 or 1; the models are those of
the protocol above. Standard errors count random noise and seeds; the choice of classes, which the
intervals count, matters more: this does not rank the methods.' <<END
lago-train noise --dataset $1 $scale
END
  section "$1" "$2partial" 'Partial class descriptions' 'partial partial-strongest' \
'Each unseen class gives only a share of its attributes: at random, or the strongest first, as
people describe what is distinctive (masks then differ only where attributes are equally strong).
"inferred" imputes missing attributes from all given ones. Standard errors count masks and seeds; the
choice of classes, which the intervals count, matters more: this does not rank the methods.' <<END
lago-train partial --dataset $1 $scale
lago-train partial --dataset $1 --given strongest $scale
END
}

# Running a section, and writing it to the page.

section() {
  data=$1 name=$2 heading=$3 figures=$4 text=$5 commands=$(cat)
  dir=$RESULTS_DIR/sections/$DATASET/$name
  "$pass"
}

list() { echo "$name"; }

say() { echo "results: $name: $1" >&2; }

run() {
  case " $SECTIONS " in *" all "* | *" $name "*) ;; *) return 0 ;; esac
  if [ -d "$dir" ] && [ "$(cat "$dir/commands")" = "$commands" ]; then
    say 'kept, since it was run by the same commands'
  elif ! lago-train dataset info "$data" >/dev/null 2>&1; then
    say "not run, since there is no data set $data in \$LAGO_DATA ($LAGO_DATA)"
    return
  elif rm -rf "$dir.new" && mkdir -p "$dir.new" && print_all && about >"$dir.new/about"; then
    printf '%s\n' "$commands" >"$dir.new/commands"
    rm -rf "$dir"
    mv "$dir.new" "$dir"
  else
    say 'failed'
    failed="$failed $name"
    return
  fi
  draw || { say 'its figures could not be drawn' && failed="$failed $name"; }
  write
}

# print_all runs the commands of the section and keeps what each prints.
print_all() {
  printf '%s\n' "$commands" | (
    i=0
    while IFS= read -r command; do
      i=$((i + 1))
      say "$command"
      (cd "$folder" && sh -c "$command") </dev/null >"$dir.new/$i.txt" || exit
    done
  ) || {
    status=$?
    [ $status -ne 130 ] || exit 130 # interrupted
    return $status
  }
}

# draw copies the figures that the section lacks from the report on all runs.
draw() {
  for figure in $figures; do
    [ -f "$dir/$data-$figure.svg" ] && continue
    (cd "$folder" && lago-train report --figures figures --quiet >/dev/null) &&
      cp "$folder/figures/$data-$figure.svg" "$dir/" || return 1
  done
}

# about tells when, by which program and where the section was run.
about() {
  cpu=$(sed -n 's/^model name[^:]*: //p' /proc/cpuinfo 2>/dev/null | head -n 1)
  [ -n "$cpu" ] || cpu=$(sysctl -n machdep.cpu.brand_string 2>/dev/null || uname -m)
  trial=$(find "$work" -name trial.json -exec ls -t {} + 2>/dev/null | head -n 1)
  blas=
  [ -z "$trial" ] || blas=$(sed -n '/"blas"/,/}/{s/.*"name": "\([^"]*\)".*/\1/p;s/.*"version": "\([^ "]*\).*/\1/p;}' "$trial" | paste -s -d ' ' -)
  echo "$(date -u +%Y-%m-%d), $(lago-train --version | sed 's/ version / /')," \
    "$(uname -sm), $cpu, $(getconf _NPROCESSORS_ONLN) cores${blas:+, BLAS: $blas}"
}

text() { case $pass in page) printf '%s\n' "$1" ;; esac }

page() {
  printf '\n### %s\n' "$heading"
  [ -z "$text" ] || printf '\n%s\n' "$text"
  if [ ! -d "$dir" ]; then
    printf '\nNot run at this scale. The command, or commands:\n\n```console\n'
    printf '%s\n' "$commands" | sed 's/^/$ /'
    echo '```'
    return
  fi
  i=0
  while IFS= read -r command; do
    i=$((i + 1))
    printf '\n```console\n$ %s\n' "$command"
    shorten "$dir/$i.txt"
    echo '```'
  done <"$dir/commands"
  for figure in $figures; do
    [ -f "$dir/$data-$figure.svg" ] || continue
    cp "$dir/$data-$figure.svg" "${PAGE%.md}/"
    printf '\n![%s](%s/%s-%s.svg)\n' "$heading" "$(basename "$PAGE" .md)" "$data" "$figure"
  done
  printf '\n*%s*\n' "$(cat "$dir/about")"
}

# shorten leaves out lists of folders and of settings, where the data are, and calibration.
shorten() {
  awk -v data="$LAGO_DATA" '
    /^  runs\// || (settings && /^  /) { if (!cut) print "..."; cut = 1; next }
    { settings = /^settings chosen:/; cut = 0 }
    /^source: / { next }
    /^Calibration of the probabilities/ { print "..."; exit }
    { while (i = index($0, data)) $0 = substr($0, 1, i - 1) "$LAGO_DATA" substr($0, i + length(data)); print }
  ' "$1"
}

write() {
  rm -f "${PAGE%.md}"/*.svg
  (pass=page && sections >"$PAGE.new")
  mv "$PAGE.new" "$PAGE"
}

names=$(pass=list && sections)
for one in $SECTIONS; do
  case " all none $(echo $names) " in *" $one "*) ;; *)
    echo "results: SECTIONS: expected some of" $names "or all or none, found $one" >&2
    exit 2
    ;;
  esac
done
failed=
pass=run
sections
write
[ -z "$failed" ] || { echo "results: failed:$failed" >&2; exit 1; }
