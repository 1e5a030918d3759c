// Readers of PGN that others wrote, each used as its users use it; one JSON line a game. Arguments: the
// file, and which reader (chess.js if none is named).
import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { pathToFileURL } from "node:url";

// Installed by setup.sh beside this run's working folder.
const require = createRequire(`${process.cwd()}/`);
const seconds = (text) => {
  const found = /^(\d+):(\d\d):(\d\d)$/.exec(text ?? "");
  return found ? found[1] * 3600 + found[2] * 60 + +found[3] : null;
};

const readers = {
  // Fed game by game.
  "chess.js": (text) => {
    const { Chess } = require("chess.js");
    return text.split(/\n\n(?=\[Event )/).filter((game) => game.trim()).map((game) => {
      const chess = new Chess();
      const errors = [];
      try {
        chess.loadPgn(game);
      } catch (error) {
        errors.push(String(error.message));
      }
      const history = errors.length ? [] : chess.history({ verbose: true });
      const comments = new Map(chess.getComments().map(({ fen, comment }) => [fen, comment]));
      return {
        tags: errors.length ? {} : chess.getHeaders(),
        moves: history.map((move) => move.lan),
        sans: history.map((move) => move.san),
        clocks: history.map((move) => seconds(/\[%clk ([\d:]+)\]/.exec(comments.get(move.after) ?? "")?.[1])),
        board: chess.fen().split(" ")[0],
        errors,
      };
    });
  },
  chessops: async (text) => {
    const part = (name) => import(pathToFileURL(`${process.cwd()}/node_modules/chessops/dist/esm/${name}.js`));
    const [{ parsePgn, startingPosition, parseComment }, { parseSan, makeSan }, { makeBoardFen }] =
      [await part("pgn"), await part("san"), await part("fen")];
    return parsePgn(text).map((game) => {
      const position = startingPosition(game.headers).unwrap();
      const out = { tags: Object.fromEntries(game.headers), sans: [], clocks: [], errors: [] };
      for (const node of game.moves.mainline()) {
        const move = parseSan(position, node.san);
        if (!move) {
          out.errors.push(`no move ${node.san}`);
          break;
        }
        out.sans.push(makeSan(position, move));
        out.clocks.push(parseComment((node.comments ?? []).join(" ")).clock ?? null);
        position.play(move);
      }
      return { ...out, board: makeBoardFen(position.board) };
    });
  },
  kokopu: (text) => {
    const { pgnRead } = require("kokopu");
    return [...pgnRead(text).games()].map((game) => {
      const nodes = game.mainVariation().nodes();
      const last = nodes.at(-1)?.position() ?? game.initialPosition();
      return {
        tags: { White: game.playerName("w"), Black: game.playerName("b"), Event: game.event() },
        sans: nodes.map((node) => node.notation()),
        clocks: nodes.map((node) => seconds(node.tag("clk"))),
        board: last.fen().split(" ")[0],
        errors: [],
      };
    });
  },
  // Checks no move against the rules: the texts are as they stand in the file.
  "pgn-parser": (text) => {
    const { parse } = require("@mliebelt/pgn-parser");
    return parse(text, { startRule: "games" }).map((game) => ({
      tags: game.tags,
      sans: game.moves.map((move) => move.notation.notation),
      clocks: game.moves.map((move) => seconds(move.commentDiag?.clk)),
      board: null,
      errors: [],
    }));
  },
};

const games = await readers[process.argv[3] ?? "chess.js"](readFileSync(process.argv[2], "utf8"));
for (const game of games) {
  console.log(JSON.stringify(game));
}
