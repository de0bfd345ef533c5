#!/usr/bin/env bash
# Where the vendored files come from: run it to update them. Needs npm; nothing else in the project does.
# MathJax and axe-core are Apache-2.0 and MPL-2.0; IBM Plex is OFL, in IBM's own subsets (the licence
# reserves the name, so we do not cut the files ourselves).
set -euo pipefail
cd "$(dirname "$0")/.."
work=$(mktemp -d); trap 'rm -rf "$work"' EXIT
npm install --silent --ignore-scripts --prefix "$work" \
  mathjax@3.2.2 axe-core@4.14.0 @ibm/plex-serif@2.0.0 @ibm/plex-sans@1.1.0 @ibm/plex-mono@2.5.0
modules=$work/node_modules

mathjax=book/_extra/_static/vendor/mathjax
rm -rf "$mathjax" && mkdir -p "$mathjax/input/tex" "$mathjax/output/chtml/fonts"
cp "$modules/mathjax/LICENSE" "$modules/mathjax/es5/tex-mml-chtml.js" "$mathjax/"
cp -r "$modules/mathjax/es5/input/tex/extensions" "$mathjax/input/tex/"
cp -r "$modules/mathjax/es5/output/chtml/fonts/woff-v2" "$mathjax/output/chtml/fonts/"

fonts=book/_static/fonts
rm -rf "$fonts" && mkdir -p "$fonts"
cp "$modules/@ibm/plex-serif/LICENSE.txt" "$fonts/LICENSE.txt"
range_Latin1="U+0020-007E, U+00A0-00FF, U+0131, U+0152-0153, U+02C6, U+02DA, U+02DC, U+2013-2014, U+2018-201A, U+201C-201E, U+2020-2022, U+2026, U+2030, U+2039-203A, U+2044, U+20AC, U+2122, U+2212"
range_Latin2="U+0100-0101, U+0104-0130, U+0132-0151, U+0154-017F"
range_Greek="U+0386-038A, U+038C, U+038E-03A1, U+03A3-03CE, U+03D0-03D1, U+03D5"
range_Pi="U+2000-200D, U+2010-2012, U+2015, U+202F, U+2032-2033, U+2070, U+2074-2079, U+2080-2089, U+2113, U+2190-2199, U+21A9-21AA, U+2202, U+2206, U+220F, U+2211, U+2219-221A, U+221E, U+2248, U+2260, U+2264-2265, U+25CA, U+2713"
echo "/* Written by tools/vendor.sh. */" > book/_static/fonts.css
for face in Serif-Regular Serif-Italic Serif-SemiBold Sans-Regular Sans-Italic Sans-SemiBold Mono-Regular Mono-SemiBold; do
  name=${face%%-*}; family=$(echo "$name" | tr '[:upper:]' '[:lower:]')
  style=normal; [[ $face != *Italic ]] || style=italic
  weight=400; [[ $face != *SemiBold ]] || weight=600
  for part in Latin1 Latin2 Greek Pi; do
    file=IBMPlex$face-$part.woff2
    [ -e "$modules/@ibm/plex-$family/fonts/split/woff2/$file" ] || continue  # Mono has no Greek
    cp "$modules/@ibm/plex-$family/fonts/split/woff2/$file" "$fonts/"
    range=range_$part
    echo "@font-face { font-family: \"IBM Plex $name\"; font-style: $style; font-weight: $weight; font-display: swap; src: url(\"fonts/$file\") format(\"woff2\"); unicode-range: ${!range}; }" >> book/_static/fonts.css
  done
done

mkdir -p tests/browser/vendor
cp "$modules/axe-core/axe.min.js" tests/browser/vendor/
