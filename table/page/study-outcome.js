// A line about a frame: whose turn it is, or how the round ended.

import { s } from './study-text.js';
import { minus, signed, t } from './text.js';

/** Say whose turn it is, or how it ended. @param {any} view */
export function statusLine(view) {
  if (view.outcome) return outcomeLine(view);
  return s(view.phase === 'draw' ? 'status.draw' : 'status.play', { round: view.round + 1, turn: view.turn, name: view.players[view.seat].name });
}

/** Say how the round of a view ended. @param {any} view */
function outcomeLine(view) {
  const { closer, ending, hand_jolly: jolly, scores, totals, winners } = view.outcome;
  const name = (/** @type {number} */ seat) => view.players[seat].name;
  const how = closer === null ? t(ending === 'exhausted' ? 'ending.exhausted' : 'ending.cut-off') : t(jolly ? 'ending.jolly.other' : 'ending.closed.other', { name: name(closer) });
  const points = scores.map((/** @type {number} */ score, /** @type {number} */ seat) => s('score', { name: name(seat), score: signed(score), total: minus(totals[seat]) })).join(', ');
  const won = view.phase !== 'game over' || winners.length === 0 ? '' : winners.length === 1 ? t('winner.other', { name: name(winners[0]) }) : t('winner.shared', { names: winners.map(name).join(', ') });
  return `${how} ${points}. ${won}`.trim();
}
