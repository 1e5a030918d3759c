// The drawing of a trace: one lane a square, each touch with the quarter second in which it may have
// happened, how long a piece rested or was in the air, and whose clock ran.

/** A board tells of a change up to this long (ms) after it happened: one scan (DGT boards: 200 to 250 ms). */
export const SCAN = 250;
/** A clock's own data may come this long (ms) after the lever moved. */
export const CLOCK_LAG = 1000;

export const PALETTES = {
  light: { paper: '#fffefb', ink: '#22262a', soft: '#5b5f64', line: '#dcd7ca', lane: '#f4f2ec', own: '#1d6152', doubt: '#d89a1f', empty: '#c9c3b4', press: '#b3211b', cursor: '#28599f', square: '#ebe5d5' },
  dark: { paper: '#1b2023', ink: '#e8e5dd', soft: '#a6adb2', line: '#30383d', lane: '#262d31', own: '#74cbb4', doubt: '#e0ac45', empty: '#566068', press: '#ff8b80', cursor: '#8ab8f5', square: '#a9b3a8' },
};

/** Seconds with one decimal, with the comma where people write one. */
export function tenths(milliseconds, comma = false) {
  const text = (milliseconds / 1000).toFixed(1);
  return comma ? text.replace('.', ',') : text;
}

/**
 * What the touches say, in order: each with `rested` (how long the piece had stood or the square had
 * been empty before, ms or `null`) and `unsure` when another square changed within the same scan, so
 * that which came first cannot be told.
 */
export function readTouches(touches) {
  const last = new Map();
  return touches.map((touch, index) => {
    const before = last.get(touch.square);
    last.set(touch.square, touch.at);
    // A man that leaves one square and comes to another cannot have come first.
    const same = (a, b) => a.from !== null && a.to === null && b.to === a.from;
    const near = (other) => other && other.square !== touch.square && Math.abs(other.at - touch.at) < SCAN && !same(other, touch) && !same(touch, other);
    return { ...touch, rested: before === undefined ? null : touch.at - before, unsure: near(touches[index - 1]) || near(touches[index + 1]) };
  });
}

const LANE = 34;
const LEFT = 52;
const TOP = 46;

function pieceName(letter) {
  return letter ? (letter < 'a' ? `w${letter}` : `b${letter.toUpperCase()}`) : null;
}

/** The shapes for a stretch of time. `marks`: `{at, running}` of the clock; `words` come translated. */
export function timeline({ touches, marks, from, to, cursor, width, colours, words, comma, title }) {
  const inside = touches.filter((touch) => touch.at >= from && touch.at <= to);
  const squares = [...new Set(inside.map((touch) => touch.square))];
  const clockTop = TOP + Math.max(1, squares.length) * LANE + 8;
  const height = clockTop + 62;
  const right = width - 14;
  const x = (at) => LEFT + ((at - from) / (to - from)) * (right - LEFT);
  const shapes = [];
  if (title) shapes.push({ text: title, at: [10, 18], size: 13, bold: true, fill: colours.ink });

  // The scale: whole seconds, as many as can be read.
  const span = (to - from) / 1000;
  const step = [0.5, 1, 2, 5, 10, 15, 30, 60].find((seconds) => (seconds / span) * (right - LEFT) >= 64) ?? 60;
  for (let at = Math.ceil(from / (step * 1000)) * step * 1000; at <= to; at += step * 1000) {
    shapes.push({ line: [x(at), TOP - 8, x(at), clockTop + 34], stroke: colours.line });
    const time = new Date(at);
    const two = (value) => String(value).padStart(2, '0');
    if (x(at) < LEFT + 20 || x(at) > right - 18) continue;
    shapes.push({ text: `${two(time.getHours())}:${two(time.getMinutes())}:${two(time.getSeconds())}${step < 1 ? `${comma ? ',' : '.'}${Math.floor(time.getMilliseconds() / 100)}` : ''}`, at: [x(at), TOP - 14], size: 11, anchor: 'middle', fill: colours.soft });
  }

  squares.forEach((square, lane) => {
    const top = TOP + lane * LANE;
    shapes.push({ rect: [LEFT, top + 3, right - LEFT, LANE - 6], fill: colours.lane, round: 4 });
    shapes.push({ text: square, at: [LEFT - 12, top + LANE / 2 + 5], size: 14, bold: true, anchor: 'end', fill: colours.ink });
    const own = inside.filter((touch) => touch.square === square);
    own.forEach((touch, index) => {
      const next = own[index + 1];
      const end = next ? next.at : to;
      const wide = x(end) - x(touch.at);
      if (!touch.to) {
        shapes.push({ rect: [x(touch.at), top + LANE / 2 - 3, Math.max(1, wide), 6], fill: colours.empty, round: 3 });
      } else if (next && wide > 40) {
        shapes.push({ line: [x(touch.at) + 28, top + LANE / 2, x(end) - 8, top + LANE / 2], stroke: colours.soft, dash: [2, 3] });
      }
      if (next && wide > 64) shapes.push({ text: `${tenths(next.at - touch.at, comma)} ${words.s}`, at: [x(touch.at) + (wide + 24) / 2, top + LANE / 2 - 5], size: 10.5, anchor: 'middle', fill: colours.soft });
    });
    for (const touch of own) {
      const at = x(touch.at);
      const back = Math.max(LEFT, x(touch.at - SCAN));
      // It happened somewhere in this band, and was told of at its right end.
      shapes.push({ rect: [back, top + 5, Math.max(2, at - back), LANE - 10], fill: touch.unsure ? colours.doubt : colours.own, opacity: touch.unsure ? 0.55 : 0.28, round: 2 });
      shapes.push({ line: [at, top + 4, at, top + LANE - 4], stroke: touch.unsure ? colours.doubt : colours.own, width: 2 });
      const name = pieceName(touch.to ?? touch.from);
      if (name) shapes.push({ rect: [at + 2, top + 5, LANE - 10, LANE - 10], fill: colours.square, round: 3, opacity: touch.to ? 1 : 0.45 }, { piece: name, at: [at + 3, top + 6], size: LANE - 12, opacity: touch.to ? 1 : 0.4 });
      if (!touch.to) shapes.push({ text: '↑', at: [at + 14, top + LANE / 2 + 5], size: 15, bold: true, anchor: 'middle', fill: '#22262a' });
    }
  });
  if (!squares.length) shapes.push({ text: words.none, at: [(LEFT + right) / 2, TOP + 22], size: 13, anchor: 'middle', fill: colours.soft });

  // The clock: who was thinking, and presses with the second by which they may be told late.
  shapes.push({ text: words.clock, at: [LEFT - 8, clockTop + 16], size: 11, anchor: 'end', fill: colours.soft });
  const turns = marks.filter((mark) => mark.at <= to);
  turns.forEach((mark, index) => {
    const start = Math.max(from, mark.at);
    const end = Math.min(to, turns[index + 1]?.at ?? to);
    if (end <= start || !mark.running) return;
    const white = mark.running === 'white';
    shapes.push({ rect: [x(start), clockTop + 4, x(end) - x(start), 17], fill: white ? '#fdfaf2' : '#34312f', stroke: colours.soft, round: 3 });
    if (x(end) - x(start) > 46) shapes.push({ text: words[mark.running], at: [(x(start) + x(end)) / 2, clockTop + 17], size: 11, anchor: 'middle', fill: white ? '#26231f' : '#f4efe4' });
  });
  for (const mark of turns) {
    if (mark.at < from) continue;
    const back = Math.max(LEFT, x(mark.at - CLOCK_LAG));
    shapes.push({ rect: [back, clockTop + 24, x(mark.at) - back, 5], fill: colours.press, opacity: 0.3, round: 2 });
    shapes.push({ line: [x(mark.at), clockTop, x(mark.at), clockTop + 30], stroke: colours.press, width: 2 });
  }
  // What the bands mean, each as wide as its words need.
  let at = LEFT;
  for (const [word, fill, opacity] of [[words.band, colours.own, 0.28], [words.unsure, colours.doubt, 0.55], [words.press, colours.press, 0.3]]) {
    shapes.push({ rect: [at, clockTop + 43, 16, 9], fill, opacity, round: 2 }, { text: word, at: [at + 22, clockTop + 52], size: 11, fill: colours.soft });
    at += 42 + word.length * 6.1;
  }
  if (cursor !== null && cursor >= from && cursor <= to) shapes.push({ line: [x(cursor), TOP - 8, x(cursor), clockTop + 34], stroke: colours.cursor, width: 2 });
  return { width, height, shapes, label: words.label, x, time: (px) => from + ((px - LEFT) / (right - LEFT)) * (to - from) };
}
