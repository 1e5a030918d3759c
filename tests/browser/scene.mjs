// Made-up trouble for the mock: alerts of each kind, touches of a castling with the rook first.

/** Raises a handful of alerts. */
export function trouble(mock) {
  const now = Date.now();
  const fen = (n) => { const plies = mock.tables.get(n).plies; return (plies.at(-2) ?? plies.at(-1)).fen; };
  mock.alert(2, { code: 'illegal-move-completed', side: 'black', severity: 'go-now', at: new Date(now - 8000).toISOString(), text: { en: 'Black: illegal Ke7 (king moved into check). Restore; White +120 s. No. 1.', ru: 'Чёрные: невозможный Крe7 (король под шах). Восстановить; белым +120 с. № 1.' }, advice: { restore_fen: fen(2), add_seconds: { to: 'white', seconds: 120 }, must_move_from: ['e8'] } });
  mock.alert(5, { code: 'flag-but-cannot-mate', side: 'white', severity: 'decides', certainty: 'certain', article: '6.9', at: new Date(now - 21000).toISOString(), text: { en: 'White: flag down, but Black cannot mate. Draw if you confirm.', ru: 'Белые: флажок упал, но чёрные не могут поставить мат. Ничья, если вы подтвердите.' }, advice: { result: '1/2-1/2' } });
  mock.alert(1, { code: 'touch-move-violation', side: 'white', severity: 'go-now', certainty: 'probable', article: '4.3.1', at: new Date(now - 65000).toISOString(), state: 'acknowledged', by: 'chief', text: { en: 'White touched the rook h1 first and moved the king. Look at the trace and decide.', ru: 'Белые сначала тронули ладью h1, а пошли королём. Посмотрите след и решите.' }, advice: { squares: ['h1', 'e1'], must_move_from: ['h1'] }, evidence: [{ at: new Date(now - 68000).toISOString(), square: 'h1', from: 'R', to: null, rested_ms: 31000 }] });
  mock.alert(7, { code: 'board-offline', side: null, severity: 'look', audience: 'operator', article: '', text: { en: 'The board does not answer. Check the cable; the game goes on from memory.', ru: 'Доска не отвечает. Проверьте кабель; партия продолжится по памяти.' } });
  mock.tables.get(7).link.online = false;
  mock.alert(3, { code: 'threefold-claimable', severity: 'note', audience: 'arbiter-silent', article: '9.2.2', text: { en: 'This position has occurred three times. Black may claim.', ru: 'Позиция появилась трижды. Чёрные могут заявить.' } });
  mock.alert(4, { code: 'clock-adjusted', severity: 'note', article: '6.10', text: { en: 'The clock was set by hand: White 1:33:20, Black 1:30:05.', ru: 'Часы переставлены вручную: белые 1:33:20, чёрные 1:30:05.' } });
  mock.tables.get(1).counts = { made: { w: 18, b: 17 }, completed: { w: 17, b: 17 }, due: { w: 40, b: 40 }, illegal: { w: 0, b: 1 }, record_obligatory: { w: true, b: true }, claims: [], obligation: null, draw_offer: 'b' };
}

/** Touches that end now: rook, king, rook; two of them within one scan. */
export function touches(end = Date.now()) {
  const at = (before) => end - before;
  return [
    { at: at(15200), square: 'g8', from: 'n', to: null }, { at: at(14300), square: 'f6', from: null, to: 'n' },
    { at: at(9800), square: 'h1', from: 'R', to: null }, { at: at(8100), square: 'h1', from: null, to: 'R' },
    { at: at(4700), square: 'e1', from: 'K', to: null }, { at: at(4600), square: 'h1', from: 'R', to: null },
    { at: at(3500), square: 'g1', from: null, to: 'K' }, { at: at(2900), square: 'f1', from: null, to: 'R' },
  ];
}
