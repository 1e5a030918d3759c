"""python-chess reads a PGN file; one JSON line a game: tags, moves in UCI and SAN, clocks, errors."""
import json
import sys

import chess.pgn

with open(sys.argv[1], encoding="utf-8", newline="") as file:
    while (game := chess.pgn.read_game(file)) is not None:
        nodes = list(game.mainline())
        print(json.dumps({
            "tags": dict(game.headers),
            "moves": [node.uci() for node in nodes],
            "sans": [node.san() for node in nodes],
            "clocks": [None if node.clock() is None else int(node.clock()) for node in nodes],
            "board": game.end().board().board_fen(),
            "errors": [str(error) for error in game.errors],
        }))
