// The players around the table: whose turn it is, name, points, and the cards that they hold.

import { SEATS, cardName, cardSvg, handPoints } from './cards.js';
import { el, say, set, sync } from './dom.js';
import { minus, t } from './text.js';

/** Where each player sits, seen from `base`: at "own", "left", "top" or "right". @param {number} seat @param {number} count @param {number} base */
export function sideOf(seat, count, base) {
  const off = (seat - base + count) % count;
  if (off === 0) return 'own';
  return { 2: ['top'], 3: ['left', 'right'], 4: ['left', 'top', 'right'] }[count]?.[off - 1] ?? 'top';
}

/** The mark of whose turn it is: "!" for oneself, an arrow for somebody else. */
export function turnMark() {
  return el('span', { class: 'turn-mark', role: 'img', hidden: true });
}

/** @param {any} mark @param {any} view @param {number} seat */
export function renewMark(mark, view, seat) {
  const on = view.state === 'playing' && view.seat === seat;
  const mine = seat === view.you;
  mark.toggleAttribute('hidden', !on);
  say(mark, on ? (mine ? '!' : '➤') : '');
  set(mark, 'aria-label', t(mine ? 'turn.yours' : 'turn.theirs'));
}

/** The disc in a seat's colour, as it is on the cards that it laid. @param {number} seat */
export function seatDot(seat) {
  const dot = el('span', { class: 'seat-dot', 'aria-hidden': 'true' });
  dot.style.background = SEATS[seat];
  return dot;
}

/**
 * Make the panel of a player.
 * @param {number} seat @param {(seat: number) => void} info
 */
export function makePlayer(seat, info) {
  const name = el('button', { type: 'button', class: 'player-name link', on: { click: () => info(seat) } });
  const mark = turnMark();
  const about = el('p', { class: 'player-points' });
  const cards = el('div', { class: 'player-cards' });
  const node = el('section', { class: 'player', 'data-seat': seat }, el('p', { class: 'player-head' }, mark, seatDot(seat), name), cards, about);
  node.renew = (/** @type {any} */ view) => renew(view);

  /** @param {any} view */
  function renew(view) {
    const player = view.players[seat];
    const free = player.kind === 'free';
    say(name, free ? t('seat.free') : player.name);
    name.toggleAttribute('disabled', free);
    node.classList.toggle('away', !free && !player.here);
    node.classList.toggle('moving', view.state === 'playing' && view.seat === seat);
    renewMark(mark, view, seat);
    const playing = player.total !== undefined;
    const parts = playing ? [t('player.total', { n: minus(player.total) }), t('player.laid', { n: player.laid })] : [];
    if (playing && player.hand) parts.push(t('player.in-hand', { n: minus(-handPoints(player.hand)) }));
    if (!free && !player.here) parts.push(t('player.away'));
    say(about, parts.join(' · '));
    const held = player.hand ?? Array(player.hand_size ?? 0).fill(null);
    node.classList.toggle('open-hand', Boolean(player.hand));
    set(cards, 'role', 'group');
    set(cards, 'aria-label', t('player.cards', { n: held.length }));
    cards.style.setProperty('--count', String(Math.max(held.length, 2)));
    sync(cards, held, (/** @type {number|null} */ card, i) => (card === null ? `back${i}` : `${card}x${held.slice(0, i).filter((/** @type {number} */ c) => c === card).length}`),
      (/** @type {number|null} */ card) => el('div', { class: 'card small', title: card === null ? null : cardName(card), role: card === null ? null : 'img', 'aria-label': card === null ? null : cardName(card) }, cardSvg(card)));
    const count = /** @type {any} */ (cards)._count ?? (cards._count = el('span', { class: 'card-count', 'aria-hidden': 'true' }));
    if (playing) cards.append(count);
    say(count, playing ? String(held.length) : '');
  }
  return node;
}
