// Making a result final: asked once, with the names, and taken back with one touch.

import { t } from '../shared/i18n.js';
import { playerText, resultText } from '../shared/people.js';
import { enter } from './api.js';
import { attempt, confirm } from './dialogs.js';

/** Asks, enters the result, and offers the way back. */
export async function confirmResult(table, value) {
  const title = t('confirm-result', { result: resultText(value) });
  const text = t('confirm-result.text', { n: table.table, white: playerText(table.players.white), black: playerText(table.players.black) });
  if (!(await confirm(title, text))) return null;
  return attempt(() => enter(table.table, { act: 'result', result: value }), t('done.result', { result: resultText(value) }), { undo: () => enter(table.table, { act: 'reopen' }) });
}
