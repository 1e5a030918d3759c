// chess.js reads a PGN file, game by game as its users do; one JSON line a game.
import { readFileSync } from "node:fs";
import { createRequire } from "node:module";

// Installed by setup.sh beside this run's working folder.
const { Chess } = createRequire(`${process.cwd()}/`)("chess.js");

const games = readFileSync(process.argv[2], "utf8").split(/\n\n(?=\[Event )/).filter((text) => text.trim());
for (const text of games) {
  const chess = new Chess();
  const errors = [];
  try {
    chess.loadPgn(text);
  } catch (error) {
    errors.push(String(error.message));
  }
  const history = errors.length ? [] : chess.history({ verbose: true });
  const comments = new Map(chess.getComments().map(({ fen, comment }) => [fen, comment]));
  const clock = (move) => {
    const found = /\[%clk (\d+):(\d\d):(\d\d)\]/.exec(comments.get(move.after) ?? "");
    return found ? found[1] * 3600 + found[2] * 60 + +found[3] : null;
  };
  console.log(JSON.stringify({
    tags: errors.length ? {} : chess.getHeaders(),
    moves: history.map((move) => move.lan),
    clocks: history.map(clock),
    errors,
  }));
}
