// The numbers of actions taken apart: what kind, which card from the hand, where it lands, and how that is said.

import { JOKER, RANKS, cardName } from './cards.js';
import { t } from './text.js';

export const DRAW = 0, LAY_SET = 20, LAY_RUN = 150, MELD = 390, MELD_FORMS = 11, DISCARD = 786;
/** Suits of the naturals of each form of a base set. */
export const SET_SUITS = [[1, 2, 3], [0, 2, 3], [0, 1, 3], [0, 1, 2], [0, 1], [0, 2], [0, 3], [1, 2], [1, 3], [2, 3]];
/** Places of the jokers of each form of a base run. */
export const RUN_JOKERS = [[], [0], [1], [2], [0, 2]];

/**
 * Take an action apart.
 * @param {number} action
 * @returns {{kind: 'draw'|'take'|'set'|'run'|'meld'|'discard', count?: number, rank?: number, suit?: number, low?: number, form?: number, meld?: number, card?: number}}
 */
export function decode(action) {
  if (action === DRAW) return { kind: 'draw' };
  if (action < LAY_SET) return { kind: 'take', count: action };
  if (action < LAY_RUN) return { kind: 'set', rank: Math.floor((action - LAY_SET) / 10), form: (action - LAY_SET) % 10 };
  if (action < MELD) {
    const base = Math.floor((action - LAY_RUN) / 5);
    return { kind: 'run', suit: Math.floor(base / 12), low: base % 12, form: (action - LAY_RUN) % 5 };
  }
  if (action < DISCARD) return { kind: 'meld', meld: Math.floor((action - MELD) / MELD_FORMS), form: (action - MELD) % MELD_FORMS };
  return { kind: 'discard', card: action - DISCARD };
}

/** Return the three cards of a base meld, 52 where a joker lies. @param {number} action */
export function baseCards(action) {
  const move = decode(action);
  if (move.kind === 'set') {
    const naturals = SET_SUITS[move.form ?? 0].map((suit) => RANKS * suit + (move.rank ?? 0));
    return naturals.length < 3 ? [...naturals, JOKER] : naturals;
  }
  return [0, 1, 2].map((i) => (RUN_JOKERS[move.form ?? 0].includes(i) ? JOKER : RANKS * (move.suit ?? 0) + ((move.low ?? 0) + i) % RANKS));
}

/**
 * Say what an attach or a swap does: the card from the hand, the meld, where in it, and whether it frees a joker.
 * @param {number} action @param {any} view
 * @returns {{meld: number, card: number, at: 'low'|'high'|'set'|'joker', index: number, swap: boolean}|null}
 */
export function atMeld(action, view) {
  const { kind, meld = 0, form = 0 } = decode(action);
  const lying = view.melds?.[meld];
  if (kind !== 'meld' || !lying) return null;
  const jokers = lying.cards.flatMap((/** @type {number[]} */ slot, /** @type {number} */ i) => (slot[0] === JOKER ? [i] : []));
  const size = lying.cards.length;
  if (lying.set) {
    if (form === 5) return { meld, card: setMissing(lying) ?? JOKER, at: 'joker', index: jokers[0] ?? 0, swap: true };
    return { meld, card: form === 4 ? JOKER : RANKS * form + lying.base, at: 'set', index: size, swap: false };
  }
  if (form >= 5) {
    const index = jokers[form - 5] ?? 0;
    return { meld, card: lying.cards[index][1], at: 'joker', index, swap: true };
  }
  const below = form < 2;
  const place = below ? lying.low - 1 : lying.low + size;
  const card = form % 2 ? JOKER : RANKS * lying.base + (place % RANKS);
  return { meld, card, at: below ? 'low' : 'high', index: below ? 0 : size, swap: false };
}

/** Return the card that a set's joker stands for, once only one is left. @param {any} meld */
export function setMissing(meld) {
  const naturals = meld.cards.filter((/** @type {number[]} */ slot) => slot[0] !== JOKER);
  if (!meld.set || naturals.length !== 3) return null;
  const suits = naturals.map((/** @type {number[]} */ slot) => Math.floor(slot[0] / RANKS));
  return RANKS * (6 - suits[0] - suits[1] - suits[2]) + meld.base;
}

/** Return the legal attaches and swaps that play a card. @param {number} card @param {any} view */
export function fitsOf(card, view) {
  return (view.legal ?? []).filter((/** @type {number} */ a) => a >= MELD && a < DISCARD && atMeld(a, view)?.card === card);
}

/** Say a meld in words. @param {any} meld */
export function meldName(meld) {
  const cards = meld.cards.map((/** @type {number[]} */ slot) => cardName(slot[0], slot[1], meld.set ? meld.base : null)).join(', ');
  return t(meld.set ? 'meld.set' : 'meld.run', { cards });
}

/** Say which meld it is in a few words. @param {any} meld */
export function meldShort(meld) {
  const first = meld.cards[0], last = meld.cards[meld.cards.length - 1];
  if (meld.set) return t('meld.set-short', { rank: t(`rank.${meld.base}`) });
  return t('meld.run-short', { first: cardName(first[1]), last: cardName(last[1]) });
}

/** Say an action as something that one may do ("Attach 7 of hearts"), in a view before it. @param {number} action @param {any} view */
export function words(action, view) {
  const move = decode(action);
  if (move.kind === 'draw') return t('do.draw');
  if (move.kind === 'take') return t('do.take', { n: move.count ?? 1 });
  if (move.kind === 'discard') return t('do.discard', { card: cardName(move.card ?? 0) });
  if (move.kind !== 'meld') return t('do.lay', { cards: baseCards(action).map((card) => cardName(card)).join(', ') });
  const spot = atMeld(action, view);
  if (!spot) return t('do.play');
  return t(spot.swap ? 'do.swap' : spot.at === 'set' ? 'do.attach' : `do.attach-${spot.at}`, { card: cardName(spot.card), meld: meldShort(view.melds[spot.meld]) });
}

/**
 * Say what somebody has played, in the view after it.
 * @param {{seat: number, action: number, actions?: number[]}} last @param {any} view
 */
export function told(last, view) {
  const name = last.seat === view.you ? t('you') : view.players[last.seat].name;
  const person = last.seat === view.you ? 'me' : 'other';
  const all = last.actions ?? [last.action];
  if (all.length > 1) {
    const lays = all.filter((a) => a >= LAY_SET && a < MELD).length;
    return t(lays ? `log.${person}.melds` : `log.${person}.played`, { name, n: lays || all.length });
  }
  const move = decode(last.action);
  if (move.kind === 'draw') return t(`log.${person}.draw`, { name });
  if (move.kind === 'take') return t(`log.${person}.take`, { name, n: move.count ?? 1 });
  if (move.kind === 'discard') return t(`log.${person}.discard`, { name, card: cardName(move.card ?? 0) });
  if (move.kind === 'meld') {
    const meld = view.melds[move.meld ?? 0], form = move.form ?? 0;
    const swap = meld && (meld.set ? form === 5 : form >= 5);
    if (!meld || swap) return t(`log.${person}.swap`, { name });
    const slot = meld.set ? (form === 4 ? [JOKER] : [RANKS * form + meld.base]) : meld.cards[form < 2 ? 0 : meld.cards.length - 1];
    return t(`log.${person}.attach`, { name, card: cardName(slot[0]) });
  }
  return t(`log.${person}.lay`, { name, cards: baseCards(last.action).map((card) => cardName(card)).join(', ') });
}
