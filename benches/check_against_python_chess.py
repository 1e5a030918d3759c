#!/usr/bin/env python3
"""How much faster `arbiterd check` is than python-chess on the same file in the same run.

    benches/check_against_python_chess.py target/release/arbiterd FILE.pgn...

Both read every game, play every move legally and look for three- and five-fold repetition, 50 and 75
moves, insufficient material, mate and stalemate at each position. The files are put together to one.
"""
import subprocess
import sys
import tempfile
import time

import chess.pgn


def with_python_chess(path):
    """Plies with an event, so that the work is the same and nothing is left out."""
    found = 0
    with open(path, encoding="utf-8", errors="replace") as text:
        while (game := chess.pgn.read_game(text)) is not None:
            board = game.board()
            for move in game.mainline_moves():
                board.push(move)
                found += board.is_repetition(3) + board.is_repetition(5)
                found += board.is_fifty_moves() + board.is_seventyfive_moves()
                found += board.is_insufficient_material()
            found += board.is_checkmate() + board.is_stalemate()
    return found


def main():
    binary, *files = sys.argv[1:]
    with tempfile.NamedTemporaryFile(suffix=".pgn") as together:
        for name in files:
            with open(name, "rb") as file:
                together.write(file.read() + b"\n\n")
        together.flush()
        began = time.perf_counter()
        with_python_chess(together.name)
        slow = time.perf_counter() - began
        fast = []
        for _ in range(5):
            began = time.perf_counter()
            subprocess.run([binary, "check", "--json", together.name], stdout=subprocess.DEVNULL, check=False)
            fast.append(time.perf_counter() - began)
    quick = sorted(fast)[2]
    print(f"python-chess {slow:.2f} s, arbiterd check {quick:.3f} s (median of 5): {slow / quick:.0f} times as fast")


if __name__ == "__main__":
    main()
