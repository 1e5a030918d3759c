#!/bin/sh
# Installs the foreign PGN readers that the ignored tests run, into the folder given (default: target/clients).
# Needs python3, npm and network access once; pgn-extract comes from Debian's package of that name.
set -eu
here=$(cd "$(dirname "$0")" && pwd)
dir=${1:-"$here/../../target/clients"}
mkdir -p "$dir"
cd "$dir"
[ -x venv/bin/python ] || python3 -m venv venv
venv/bin/python -c 'import chess' 2>/dev/null || venv/bin/pip install --quiet 'chess==1.11.2'
[ -f package.json ] || echo '{"private": true}' > package.json
[ -d node_modules/kokopu ] || npm install --silent --no-fund --no-audit chess.js@1.4.0 chessops@0.14.2 \
    @mliebelt/pgn-parser@1.4.19 kokopu@4.13.4
command -v pgn-extract >/dev/null || [ -x /usr/games/pgn-extract ] || echo 'pgn-extract is missing: apt-get install pgn-extract' >&2
