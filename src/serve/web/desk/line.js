// A line of moves to step through: the help-mate of a flag decision, or a candidate of a gap.

import { Board } from '../shared/board.js';
import { checkedKing, fenOf, moveSquares, notation, play, sanOf, stateOf } from '../shared/chess.js';
import { el, iconButton, setAttr } from '../shared/dom.js';
import { t } from '../shared/i18n.js';
import { pref } from '../shared/prefs.js';
import { openDialog } from './dialogs.js';

export function showLine(fen, moves, text) {
  const states = [stateOf(fen)];
  const names = [];
  for (const uci of moves) {
    const state = states.at(-1);
    names.push(notation(sanOf(state, uci), pref('notation', 'en')));
    states.push(play(state, uci));
  }
  return openDialog(t('line'), () => {
    const board = new Board({ coords: true, glide: true });
    let at = 0;
    const list = el('ol', { class: 'line-moves' });
    const buttons = names.map((name, index) => {
      const button = el('button', { type: 'button', text: name, on: { click: () => go(index + 1) } });
      list.append(el('li', {}, button));
      return button;
    });
    function go(to) {
      at = Math.max(0, Math.min(states.length - 1, to));
      board.show(fenOf(states[at]));
      board.mark({ last: at ? moveSquares(moves[at - 1]) : [], check: [checkedKing(states[at])] });
      board.label = at ? t('after-move', { move: names[at - 1] }) : t('start-position');
      buttons.forEach((button, index) => setAttr(button, 'aria-current', index === at - 1 ? 'true' : null));
    }
    go(0);
    const steps = el('div', { class: 'steps' },
      iconButton('first', t('first'), () => go(0)), iconButton('prev', t('previous'), () => go(at - 1)),
      iconButton('next', t('next'), () => go(at + 1), { autofocus: true }), iconButton('last', t('latest'), () => go(states.length - 1)));
    return [text && el('p', { class: 'soft', text }), board.root, list, steps];
  });
}
