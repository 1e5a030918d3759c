// Positions and moves, as far as pages need them: reading FEN, playing UCI moves on a board, legal
// moves for entering one by hand, and notation for people. What counts is decided by the daemon.
//
// A board is an array of 64 FEN letters ('' = empty), from a8 to h1.

const FILES = 'abcdefgh';

/** The index of a square's name. */
export function square(name) {
  return (8 - Number(name[1])) * 8 + FILES.indexOf(name[0]);
}

/** The name of an index. */
export function squareName(index) {
  return FILES[index % 8] + (8 - (index >> 3));
}

/** The board of a FEN, or of its first field alone. */
export function boardOf(fen) {
  const board = new Array(64).fill('');
  let at = 0;
  for (const letter of String(fen ?? '').split(' ')[0]) {
    if (letter === '/') continue;
    if (letter >= '1' && letter <= '8') at += Number(letter);
    else if ('KQRBNPkqrbnp'.includes(letter) && at < 64) board[at++] = letter;
    else if ('+-=?'.includes(letter) && at < 64) at += 1;
  }
  return board;
}

/** A whole FEN as a state to play on. */
export function stateOf(fen) {
  const [placement, turn = 'w', castling = '-', passant = '-', half = '0', full = '1'] = String(fen).split(' ');
  return {
    board: boardOf(placement),
    turn,
    castling: castling === '-' ? '' : castling,
    passant: passant === '-' ? -1 : square(passant),
    half: Number(half) || 0,
    full: Number(full) || 1,
  };
}

/** A state as FEN. */
export function fenOf(state) {
  const rows = [];
  for (let row = 0; row < 8; row += 1) {
    let text = '';
    let empty = 0;
    for (let file = 0; file < 8; file += 1) {
      const letter = state.board[row * 8 + file];
      if (!letter) { empty += 1; continue; }
      text += (empty || '') + letter;
      empty = 0;
    }
    rows.push(text + (empty || ''));
  }
  const passant = state.passant < 0 ? '-' : squareName(state.passant);
  return `${rows.join('/')} ${state.turn} ${state.castling || '-'} ${passant} ${state.half} ${state.full}`;
}

const isWhite = (letter) => letter !== '' && letter < 'a';
const mine = (letter, turn) => letter !== '' && isWhite(letter) === (turn === 'w');

/** The two squares of a UCI move, for marking it. Castling as king-takes-rook shows as it is written. */
export function moveSquares(uci) {
  if (!uci || uci.length < 4) return [];
  return [square(uci.slice(0, 2)), square(uci.slice(2, 4))];
}

/** The squares where king and rook of this castling stand afterwards, or `null` for another move. */
function castlingOf(state, from, to) {
  const piece = state.board[from];
  if (piece.toLowerCase() !== 'k') return null;
  const row = from & 56;
  const takesRook = mine(state.board[to], state.turn) && state.board[to].toLowerCase() === 'r';
  const twoSteps = from % 8 === 4 && Math.abs(to - from) === 2 && (to & 56) === row;
  if (!takesRook && !twoSteps) return null;
  const short = to > from;
  let rook = to;
  if (!takesRook) {
    rook = short ? row + 7 : row;
    if (state.board[rook].toLowerCase() !== 'r') return null;
  }
  return { rook, kingTo: row + (short ? 6 : 2), rookTo: row + (short ? 5 : 3) };
}

/** The state after a UCI move. The move is not checked. */
export function play(state, uci) {
  const [from, to] = moveSquares(uci);
  const board = state.board.slice();
  const piece = board[from];
  const next = { board, turn: state.turn === 'w' ? 'b' : 'w', castling: state.castling, passant: -1, half: state.half + 1, full: state.full + (state.turn === 'b' ? 1 : 0) };
  const castling = castlingOf(state, from, to);
  if (castling) {
    const rook = board[castling.rook];
    board[from] = '';
    board[castling.rook] = '';
    board[castling.kingTo] = piece;
    board[castling.rookTo] = rook;
  } else {
    if (board[to] || piece.toLowerCase() === 'p') next.half = 0;
    if (piece.toLowerCase() === 'p') {
      if (to === state.passant) board[to + (piece === 'P' ? 8 : -8)] = '';
      if (Math.abs(to - from) === 16) next.passant = (from + to) / 2;
    }
    board[from] = '';
    const became = uci[4];
    board[to] = became ? (isWhite(piece) ? became.toUpperCase() : became.toLowerCase()) : piece;
  }
  next.castling = [...state.castling].filter((right) => {
    const white = isWhite(right);
    if (piece === (white ? 'K' : 'k')) return false;
    const row = white ? 56 : 0;
    const file = { k: 7, q: 0 }[right.toLowerCase()] ?? FILES.indexOf(right.toLowerCase());
    return from !== row + file && to !== row + file;
  }).join('');
  return next;
}

const STEPS = {
  n: [[1, 2], [2, 1], [2, -1], [1, -2], [-1, -2], [-2, -1], [-2, 1], [-1, 2]],
  b: [[1, 1], [1, -1], [-1, 1], [-1, -1]],
  r: [[1, 0], [-1, 0], [0, 1], [0, -1]],
};
STEPS.q = STEPS.k = [...STEPS.b, ...STEPS.r];

function walk(board, from, kind, visit) {
  const file = from % 8;
  const row = from >> 3;
  for (const [dx, dy] of STEPS[kind]) {
    for (let x = file + dx, y = row + dy; x >= 0 && x < 8 && y >= 0 && y < 8; x += dx, y += dy) {
      const at = y * 8 + x;
      visit(at);
      if (board[at] || kind === 'n' || kind === 'k') break;
    }
  }
}

/** Whether a man of this side attacks the square. */
function attacked(board, at, by) {
  let found = false;
  for (const kind of ['n', 'b', 'r', 'k']) {
    walk(board, at, kind, (to) => {
      const letter = board[to];
      if (!mine(letter, by)) return;
      const role = letter.toLowerCase();
      if (role === kind || (role === 'q' && (kind === 'b' || kind === 'r'))) found = true;
    });
  }
  const down = by === 'w' ? 8 : -8;
  for (const side of [-1, 1]) {
    const from = at + down + side;
    if (from >= 0 && from < 64 && Math.abs((from % 8) - (at % 8)) === 1 && board[from] === (by === 'w' ? 'P' : 'p')) found = true;
  }
  return found;
}

/** The square of a king in check, or -1: for marking it. */
export function checkedKing(state) {
  const king = state.board.indexOf(state.turn === 'w' ? 'K' : 'k');
  return king >= 0 && attacked(state.board, king, state.turn === 'w' ? 'b' : 'w') ? king : -1;
}

/** All legal moves in UCI. */
export function legalMoves(state) {
  const { board, turn } = state;
  const other = turn === 'w' ? 'b' : 'w';
  const moves = [];
  const add = (from, to) => {
    const pawn = board[from].toLowerCase() === 'p';
    const name = squareName(from) + squareName(to);
    if (pawn && (to < 8 || to >= 56)) for (const role of 'qrbn') moves.push(name + role);
    else moves.push(name);
  };
  for (let from = 0; from < 64; from += 1) {
    const piece = board[from];
    if (!mine(piece, turn)) continue;
    const kind = piece.toLowerCase();
    if (kind !== 'p') {
      walk(board, from, kind, (to) => { if (!mine(board[to], turn)) add(from, to); });
      continue;
    }
    const up = turn === 'w' ? -8 : 8;
    if (board[from + up] === '') {
      add(from, from + up);
      if (from >> 3 === (turn === 'w' ? 6 : 1) && board[from + 2 * up] === '') add(from, from + 2 * up);
    }
    for (const side of [-1, 1]) {
      const to = from + up + side;
      if (to < 0 || to > 63 || Math.abs((to % 8) - (from % 8)) !== 1) continue;
      if (mine(board[to], other) || to === state.passant) add(from, to);
    }
  }
  const king = board.indexOf(turn === 'w' ? 'K' : 'k');
  const legal = moves.filter((uci) => {
    const after = play(state, uci).board;
    const stands = after.indexOf(turn === 'w' ? 'K' : 'k');
    return stands < 0 || !attacked(after, stands, other);
  });
  return legal.concat(castlingMoves(state, king));
}

function castlingMoves(state, king) {
  const { board, turn } = state;
  const other = turn === 'w' ? 'b' : 'w';
  const row = turn === 'w' ? 56 : 0;
  const found = [];
  if (king < 0 || (king & 56) !== row || attacked(board, king, other)) return found;
  for (const right of state.castling) {
    if (isWhite(right) !== (turn === 'w')) continue;
    const letter = right.toLowerCase();
    let rook;
    if (letter === 'k' || letter === 'q') {
      const files = letter === 'k' ? [7, 6, 5, 4, 3, 2, 1] : [0, 1, 2, 3, 4, 5, 6];
      rook = files.map((file) => row + file).find((at) => board[at] === (turn === 'w' ? 'R' : 'r') && (letter === 'k' ? at > king : at < king));
    } else rook = row + FILES.indexOf(letter);
    if (rook === undefined || board[rook].toLowerCase() !== 'r') continue;
    const short = rook > king;
    const kingTo = row + (short ? 6 : 2);
    const rookTo = row + (short ? 5 : 3);
    const between = (a, b) => { const list = []; for (let at = Math.min(a, b); at <= Math.max(a, b); at += 1) list.push(at); return list; };
    const free = [...between(king, kingTo), ...between(rook, rookTo)].every((at) => at === king || at === rook || !board[at]);
    const bare = board.slice();
    bare[king] = '';
    bare[rook] = '';
    if (!free || between(king, kingTo).some((at) => attacked(bare, at, other))) continue;
    const usual = king % 8 === 4 && (rook % 8 === 0 || rook % 8 === 7);
    found.push(squareName(king) + squareName(usual ? kingTo : rook));
  }
  return found;
}

const RUSSIAN = { K: 'Кр', Q: 'Ф', R: 'Л', B: 'С', N: 'К' };
const FIGURINES = { K: '♔', Q: '♕', R: '♖', B: '♗', N: '♘' };

/** SAN as people want it: `en` as it is, `ru` with Кр Ф Л С К and zeros for castling, `fig` with figurines. */
export function notation(san, style) {
  if (!san || style === 'en' || !style) return san ?? '';
  const letters = style === 'ru' ? RUSSIAN : FIGURINES;
  if (style === 'ru' && san.startsWith('O-O')) return san.replaceAll('O', '0');
  let text = san.replace(/^[KQRBN]/, (letter) => letters[letter]);
  text = text.replace(/=([QRBN])/, (whole, letter) => (style === 'ru' ? letters[letter] : `=${letters[letter]}`));
  return text;
}

/** SAN of a legal move. */
export function sanOf(state, uci, legal = legalMoves(state)) {
  const [from, to] = moveSquares(uci);
  const piece = state.board[from];
  const role = piece.toUpperCase();
  let text;
  const castling = castlingOf(state, from, to);
  if (castling) text = to > from ? 'O-O' : 'O-O-O';
  else {
    const takes = state.board[to] !== '' || (role === 'P' && to === state.passant);
    if (role === 'P') text = (takes ? `${FILES[from % 8]}x` : '') + squareName(to);
    else {
      const rivals = legal.filter((other) => other.slice(2, 4) === uci.slice(2, 4) && other.slice(0, 2) !== uci.slice(0, 2)
        && state.board[square(other.slice(0, 2))] === piece).map((other) => square(other.slice(0, 2)));
      let which = '';
      if (rivals.length) {
        if (rivals.every((rival) => rival % 8 !== from % 8)) which = FILES[from % 8];
        else if (rivals.every((rival) => rival >> 3 !== from >> 3)) which = String(8 - (from >> 3));
        else which = squareName(from);
      }
      text = role + which + (takes ? 'x' : '') + squareName(to);
    }
    if (uci[4]) text += `=${uci[4].toUpperCase()}`;
  }
  const next = play(state, uci);
  if (checkedKing(next) >= 0) text += legalMoves(next).length ? '+' : '#';
  return text;
}

// Cyrillic letters that look like Latin ones are what a Russian keyboard gives for squares.
const LOOK_ALIKE = { а: 'a', с: 'c', е: 'e', О: 'O', о: 'O', х: 'x', Х: 'x', 0: 'O' };
const bare = (text) => text.replace(/[асеОохХ0]/g, (letter) => LOOK_ALIKE[letter])
  .replace(/e\.\s?p\.|\(=\)|[+#!?=x:×\-–.\s]/gi, '').toLowerCase();

/** The legal move a person typed, in UCI, English or Russian notation; `null` if none or several fit. */
export function readMove(state, typed) {
  const text = typed.trim();
  if (!text) return null;
  const legal = legalMoves(state);
  const plain = text.toLowerCase().replace(/[^a-h1-8qrbn]/g, '');
  if (legal.includes(plain)) return plain;
  const wanted = bare(text);
  const hits = legal.filter((uci) => {
    const san = sanOf(state, uci, legal);
    const forms = [san, notation(san, 'ru')];
    const role = state.board[square(uci.slice(0, 2))].toUpperCase();
    const long = (role === 'P' ? '' : role) + uci;
    forms.push(long, notation(long, 'ru'));
    if (san.startsWith('O-O')) forms.push(san);
    return forms.some((form) => bare(form) === wanted);
  });
  return hits.length === 1 ? hits[0] : null;
}

/** The number a ply has in the game: `12.` or `12…`, from the FEN it started from. */
export function plyNumber(startFen, index) {
  const { turn, full } = stateOf(startFen);
  const half = index + (turn === 'b' ? 1 : 0);
  return { move: full + (half >> 1), black: half % 2 === 1 };
}
