// Cards, actions and positions in notation ("Th", "attach 7h m2 high"), to and from the numbers of the protocol.

import { DISCARD, DRAW, LAY_SET, MELD, MELD_FORMS, atMeld, baseCards, decode } from './actions.js';
import { JOKER, RANKS, rankOf, suitOf } from './cards.js';

const RANK_CHARS = 'A23456789TJQK', SUIT_CHARS = 'cdhs';
/** @type {Map<string, number>} base melds by their cards */
const LAYS = new Map();
for (let action = LAY_SET; action < MELD; action += 1) LAYS.set(baseCards(action).map(cardText).join(' '), action);

/** Name a card in notation. @param {number} card */
export function cardText(card) {
  return card === JOKER ? '*' : RANK_CHARS[rankOf(card)] + SUIT_CHARS[suitOf(card)];
}

/** Return the card of a name in notation, or null. A joker may say what it stands for. @param {string} word @returns {number|null} */
export function parseCard(word) {
  if (word.startsWith('*')) return JOKER;
  const rank = RANK_CHARS.indexOf(word[0]), suit = SUIT_CHARS.indexOf(word[1]);
  return word.length === 2 && rank >= 0 && suit >= 0 ? RANKS * suit + rank : null;
}

/** Return an action in notation, in a view before it. @param {number} action @param {any} view */
export function actionText(action, view) {
  const move = decode(action);
  if (move.kind === 'draw') return 'draw';
  if (move.kind === 'take') return `take ${move.count}`;
  if (move.kind === 'discard') return `discard ${cardText(move.card ?? 0)}`;
  if (move.kind !== 'meld') return `lay ${baseCards(action).map(cardText).join(' ')}`;
  const spot = atMeld(action, view);
  if (!spot) return `m${move.meld}`;
  const what = `${spot.swap ? 'swap' : 'attach'} ${cardText(spot.card)} m${move.meld}`;
  if (view.melds[spot.meld].set) return what;
  return spot.swap ? `${what} #${(move.form ?? 5) - 4}` : `${what} ${spot.at}`;
}

/** Return the number of an action in notation, or null. @param {string|null} text @returns {number|null} */
export function parseAction(text) {
  const [verb, ...rest] = (text ?? '').split(' ');
  if (verb === 'draw') return DRAW;
  if (verb === 'take') return Number(rest[0]);
  if (verb === 'lay') return LAYS.get(rest.join(' ')) ?? null;
  const card = parseCard(rest[0] ?? '');
  if (card === null) return null;
  if (verb === 'discard') return DISCARD + card;
  if (verb !== 'attach' && verb !== 'swap') return null;
  const place = rest[2];
  const swap = verb === 'swap';
  const form = swap ? (place ? 4 + Number(place.slice(1)) : 5) : place ? (place === 'low' ? 0 : 2) + Number(card === JOKER) : card === JOKER ? 4 : suitOf(card);
  return MELD + MELD_FORMS * Number(rest[1].slice(1)) + form;
}

/** Write a position so that a person can read it: one key a line. @param {any} position */
export function pretty(position) {
  if (position === null || typeof position !== 'object' || Array.isArray(position)) return JSON.stringify(position);
  const lines = Object.entries(position).map(([key, value]) => ` ${JSON.stringify(key)}: ${JSON.stringify(value)}`);
  return `{\n${lines.join(',\n')}\n}`;
}
