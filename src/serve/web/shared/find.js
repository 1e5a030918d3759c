// Finding tables by what somebody types.

/** Whether a table fits what was typed: name, team, federation or number; ё counts as е. */
export function fits(table, typed) {
  if (!typed.trim()) return true;
  const plain = (text) => String(text ?? '').toLocaleLowerCase().replaceAll('ё', 'е').normalize('NFD').replace(/\p{M}/gu, '');
  const words = plain(typed).split(/\s+/).filter(Boolean);
  const { white = {}, black = {} } = table.players ?? {};
  const text = plain([table.table, white.name, white.title, white.team, white.federation, black.name, black.title, black.team, black.federation].join(' '));
  return words.every((word) => (/^\d+$/.test(word) ? String(table.table) === word || text.includes(` ${word}`) : text.includes(word)));
}
