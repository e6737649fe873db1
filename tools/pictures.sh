#!/bin/sh
# Draws the pictures of the README in headless Chromium, by the model of the quick start on glyphs: the contact
# sheet with every 75th sample, and the page of explain and that of serve for one sample of an unseen class.
#
#   tools/pictures.sh path/to/lago-train [FOLDER]      (default: docs)
set -eu

absolute() { case $1 in /*) echo "$1" ;; *) echo "$PWD/$1" ;; esac }

lago=$(absolute "${1:?usage: pictures.sh path/to/lago-train [FOLDER]}")
to=$(absolute "${2:-docs}")
sample=1810
browser=$(command -v chromium || command -v google-chrome) || { echo 'pictures: Chromium is not installed' >&2; exit 1; }
work=$(mktemp -d)
trap 'kill $server 2>/dev/null || true; rm -rf "$work"' EXIT
server=
cd "$work"

shot() { # FILE WIDTH,HEIGHT ADDRESS
  "$browser" --headless --no-sandbox --hide-scrollbars --virtual-time-budget=5000 --window-size="$2" --screenshot="$to/$1" "$3" 2>/dev/null
}

"$lago" run --seeds 1 --quiet >/dev/null
"$lago" predict --model latest --dataset glyphs --format html --to sheet.html --quiet
echo '<style>.cards li:not(:nth-child(75n+37)) { display: none } .filter { visibility: hidden; height: 0 }</style>' >>sheet.html
shot sheet.png 1000,665 "file://$work/sheet.html"
"$lago" explain --model latest --sample $sample --format html --to page.html --quiet
shot explanation.png 900,960 "file://$work/page.html"
"$lago" serve glyphs --model latest >address.txt 2>/dev/null &
server=$!
until address=$(grep -o 'http[^ ]*' address.txt); do kill -0 $server && sleep 0.2; done
shot page.png 1100,1070 "$address#try/$sample"
echo "pictures: $to/sheet.png, $to/explanation.png and $to/page.png"
