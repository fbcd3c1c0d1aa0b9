// After a round: everybody's cards with their points, the sums and Continue; after the game: who won.

import { cardName, cardSvg, handPoints, handValue } from './cards.js';
import { button, el } from './dom.js';
import { seatDot } from './players.js';
import { minus, signed, t } from './text.js';

/**
 * Make the result.
 * @param {{goOn: () => void, record: () => void, again: () => void, fresh: () => void}} on
 */
export function makeRound(on) {
  const element = el('dialog', { class: 'round', id: 'result', 'aria-live': 'polite' });
  let shown = '';

  /** Show what a view says of the end of a round, or nothing. @param {any} view */
  function draw(view) {
    const over = view.state === 'round over' || view.state === 'finished';
    if (!over || !view.outcome) {
      if (element.open) element.close();
      shown = '';
      return;
    }
    const what = `${view.round} ${view.state} ${view.players.map((/** @type {any} */ player) => player.ready).join()}`;
    if (what === shown) return;
    const hadFocus = element.contains(document.activeElement);
    shown = what;
    element.replaceChildren(...fill(view));
    if (!element.open) {
      element.show();
      /** @type {HTMLElement|null} */ (element.querySelector('#continue, .main'))?.focus({ preventScroll: true });
      element.scrollTop = 0;
    } else if (hadFocus) /** @type {HTMLElement|null} */ (element.querySelector('button:not(:disabled)'))?.focus();
  }

  /** @param {any} view */
  function fill(view) {
    const { outcome } = view;
    const finished = view.state === 'finished';
    const name = (/** @type {number} */ seat) => (seat === view.you ? t('you') : view.players[seat].name);
    const parts = [el('h2', { text: finished ? t('result.game') : t('result.round', { n: view.round + 1 }) }), el('p', { class: 'ending', text: ending(view, name) })];
    if (finished) parts.push(el('p', { class: 'winners', text: winners(view, name) }));
    parts.push(el('div', { class: 'results' }, ...view.players.map((/** @type {any} */ player) => playerResult(player, view, name))));
    parts.push(el('div', { class: 'round-buttons' }, ...(finished ? gameButtons() : roundButtons(view))));
    return parts;
  }

  function gameButtons() {
    return [
      button(t('result.new'), on.fresh, { class: 'main' }), button(t('result.record'), on.record, { id: 'record' }),
      button(t('result.again'), on.again, { id: 'watch-again' }),
    ];
  }

  /** @param {any} view */
  function roundButtons(view) {
    if (view.you === null) return [];
    const me = view.players[view.you];
    const waiting = view.players.filter((/** @type {any} */ player) => player.kind === 'person' && !player.ready && player.seat !== view.you);
    return [
      button(t('result.continue'), on.goOn, { id: 'continue', class: 'main', disabled: me.ready }),
      el('p', { class: 'ready', text: waiting.length ? t('result.waits', { names: waiting.map((/** @type {any} */ player) => player.name).join(', ') }) : '' }),
    ];
  }
  return { element, draw };
}

/** @param {any} view @param {(seat: number) => string} name */
function ending(view, name) {
  const { closer, ending: how, hand_jolly: jolly } = view.outcome;
  if (closer === null) return t(how === 'exhausted' ? 'ending.exhausted' : 'ending.cut-off');
  const person = closer === view.you ? 'me' : 'other';
  return t(jolly ? `ending.jolly.${person}` : `ending.closed.${person}`, { name: name(closer) });
}

/** @param {any} view @param {(seat: number) => string} name */
function winners(view, name) {
  const seats = view.outcome.winners;
  if (seats.length === 1) return t(seats[0] === view.you ? 'winner.me' : 'winner.other', { name: name(seats[0]) });
  return t('winner.shared', { names: seats.map(name).join(', ') });
}

/** @param {any} player @param {any} view @param {(seat: number) => string} name */
function playerResult(player, view, name) {
  const { closer, hand_jolly: jolly, totals, scores } = view.outcome;
  const hand = player.hand ?? [];
  const score = player.score ?? scores[player.seat];
  const closed = closer === player.seat;
  const against = handPoints(hand) * (jolly && !closed ? 2 : 1);
  const bonus = closed ? (jolly ? score / 2 : score) - player.laid : 0;
  const line = (/** @type {string} */ key, /** @type {string} */ value) => [el('dt', { text: t(key) }), el('dd', { text: value })];
  const sums = [...line('result.laid', signed(player.laid))];
  if (closed) sums.push(...line('result.bonus', signed(bonus)));
  sums.push(...line(jolly && !closed ? 'result.hand-twice' : 'result.hand', signed(-against)));
  if (closed && jolly) sums.push(...line('result.doubled', '× 2'));
  return el('section', { class: `result${view.outcome.winners?.includes(player.seat) ? ' winner' : ''}`, 'data-seat': player.seat },
    el('h3', {}, seatDot(player.seat), name(player.seat), player.ready && view.state === 'round over' && player.kind === 'person' ? el('span', { class: 'tick', text: ` ✓ ${t('result.ready')}` }) : null),
    el('div', { class: 'result-cards' }, ...(hand.length === 0 ? [el('p', { class: 'none', text: t('result.no-cards') })] : hand.map((/** @type {number} */ card) => el('figure', {},
      el('div', { class: 'card small', role: 'img', 'aria-label': cardName(card) }, cardSvg(card)), el('figcaption', { text: String(handValue(card)) }))))),
    el('dl', {}, ...sums, el('dt', { class: 'sum', text: t('result.sum') }), el('dd', { class: 'sum', text: signed(score) }),
      el('dt', { class: 'sum', text: t('result.total') }), el('dd', { class: 'sum', text: minus(totals[player.seat]) })));
}
