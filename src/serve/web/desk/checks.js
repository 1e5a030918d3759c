// What has to be right at a table before the clocks are started, from what is known of it.

export const CHECKS = ['players', 'board', 'clock', 'clock-set', 'position', 'battery'];

const CLOCK_ALERTS = ['increment-missing', 'increment-wrong', 'start-time-wrong', 'period-bonus-wrong', 'time-control-class-mismatch'];
/** A battery at or below so many percent does not last a round. */
const LOW = 20;

/** `[name, right]` for each check; `null` is not known. */
export function checks(table) {
  const { link = {} } = table;
  const open = [...table.alerts.values()].filter((alert) => alert.state === 'open' || alert.state === 'acknowledged');
  const codes = new Set(open.map((alert) => alert.code));
  const percent = link.battery?.percent;
  return [
    ['players', Boolean(table.players?.white?.name && table.players?.black?.name)],
    ['board', link.online === true],
    ['clock', link.clock === true],
    ['clock-set', link.clock === true ? !CLOCK_ALERTS.some((code) => codes.has(code)) : null],
    ['position', table.status === 'waiting' ? false : !codes.has('wrong-initial-position') && !codes.has('board-sideways')],
    ['battery', percent === undefined || percent === null ? null : percent > LOW],
  ];
}
