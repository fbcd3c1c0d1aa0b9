// What an agent expects others to hold: for each seat a grid of suits and ranks in shades, with jokers; the true hand is outlined.

import { JOKER, RANKS, cardName } from './cards.js';
import { el } from './dom.js';
import { seatDot } from './players.js';
import { cardText } from './study-notation.js';
import { s } from './study-text.js';
import { t } from './text.js';

const SIGNS = '♣♦♥♠';

/**
 * Draw a belief.
 * @param {{worlds: number, players: {seat: number, cards: [number, number][]}[]}} belief @param {any} [view] with names, and hands that are open
 */
export function beliefPicture(belief, view) {
  return el('div', { class: 'belief' }, el('h3', { text: s('belief') }), el('p', { class: 'dim', text: s('belief.about', { n: belief.worlds }) }),
    ...belief.players.map(({ seat, cards }) => seatBelief(seat, cards, view?.players?.[seat])),
    el('div', { class: 'belief-key dim', 'aria-hidden': 'true' }, el('span', { text: '0' }), ...[0.1, 0.3, 0.5, 0.75, 1].map((n) => shaded(el('i', {}), n)), el('span', { text: '1' }),
      shaded(el('i', { class: 'more' }), 2), el('span', { text: '2' }), view ? el('i', { class: 'held' }) : null, view ? el('span', { text: s('belief.held') }) : null));
}

/** @param {any} node @param {number} expected */
function shaded(node, expected) {
  node.style.setProperty('--expected', `${Math.round(100 * Math.min(1, expected) ** 0.8)}%`);
  node.classList.toggle('more', expected > 1.2);
  return node;
}

/** @param {number} seat @param {[number, number][]} cards @param {any} player */
function seatBelief(seat, cards, player) {
  const expected = new Map(cards);
  const hand = /** @type {number[]|null} */ (player?.hand ?? null);
  const name = player?.name ?? s('seat', { n: seat });
  /** @param {number} card */
  const cell = (card) => {
    const n = expected.get(card) ?? 0, held = hand === null ? 0 : hand.filter((each) => each === card).length;
    const label = hand === null ? s('belief.cell', { card: cardName(card), expected: n.toFixed(2) }) : s('belief.cell-held', { card: cardName(card), expected: n.toFixed(2), held });
    const node = el('td', { class: `belief-cell${held ? ' held' : ''}`, 'data-card': cardText(card), title: label }, el('span', { class: 'unseen', text: n.toFixed(2) + (held ? `, ${s('belief.holds', { n: held })}` : '') }),
      held > 1 ? el('span', { class: 'twice', 'aria-hidden': 'true', text: String(held) }) : null);
    return shaded(node, n);
  };
  const ranks = Array.from({ length: RANKS }, (_, rank) => rank);
  const table = el('table', { class: 'belief-grid' },
    el('caption', {}, seatDot(seat), ' ', el('strong', { text: name }), hand === null ? null : el('span', { class: 'dim', text: ` ${t('player.cards', { n: hand.length })}` })),
    el('thead', {}, el('tr', {}, el('td'), ...ranks.map((rank) => el('th', { scope: 'col', 'aria-label': t(`rank.${rank}`), text: cardText(rank)[0] })))),
    el('tbody', {}, ...[0, 1, 2, 3].map((suit) => el('tr', {}, el('th', { scope: 'row', class: suit === 1 || suit === 2 ? 'red' : null, 'aria-label': t(`suit.${suit}`), text: SIGNS[suit] }), ...ranks.map((rank) => cell(RANKS * suit + rank)))),
      el('tr', {}, el('th', { scope: 'row', 'aria-label': t('card.joker'), text: '★' }), cell(JOKER), el('td', { class: 'joker-number', colspan: RANKS - 1, text: s('belief.jokers', { n: (expected.get(JOKER) ?? 0).toFixed(2) }) }))));
  return el('div', { class: 'belief-seat', 'data-seat': seat }, table);
}
