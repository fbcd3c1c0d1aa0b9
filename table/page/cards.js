// Cards as SVG, drawn from plain shapes (those of jolly_env/shapes.py), and their names in words.

import { t } from './text.js';

export const JOKER = 52;
export const RANKS = 13;
/** Colours of the seats. */
export const SEATS = ['#5cb8ff', '#ffb04a', '#ff86b8', '#e9f06a'];
const INK = '#1d242b', RED = '#c01f2e', VIOLET = '#6d3aa0', IVORY = '#fffdf8', LAVENDER = '#f3eafc';
const SUITS = [
  'M0-9.6a4.5 4.5 0 0 1 3.6 7.2a4.6 4.6 0 1 1-2.5 7.1c.2 2.2 1 3.9 2.4 5.1h-7c1.4-1.2 2.2-2.9 2.4-5.1a4.6 4.6 0 1 1-2.5-7.1a4.5 4.5 0 0 1 3.6-7.2Z',
  'M0-10C2-6.3 4.7-2.9 7.6 0C4.7 2.9 2 6.3 0 10C-2 6.3-4.7 2.9-7.6 0C-4.7-2.9-2-6.3 0-10Z',
  'M0 9.4C-2.8 5.6-9.4 1.8-9.4-3.7C-9.4-6.9-7.1-9-4.7-9C-2.5-9-.8-7.6 0-5.5C.8-7.6 2.5-9 4.7-9C7.1-9 9.4-6.9 9.4-3.7C9.4 1.8 2.8 5.6 0 9.4Z',
  'M0-9.6C2.6-5.8 8.9-2.3 8.9 2.6C8.9 5.5 6.9 7.1 4.8 7.1C3.2 7.1 1.7 6.2 1 4.7C1.2 7 2 8.7 3.4 9.8H-3.4C-2 8.7-1.2 7-1 4.7C-1.7 6.2-3.2 7.1-4.8 7.1C-6.9 7.1-8.9 5.5-8.9 2.6C-8.9-2.3-2.6-5.8 0-9.6Z',
];
const RANKS_DRAWN = [
  'M-5 7L0-7L5 7M-3.3 2.6H3.3',
  'M-4.3-3.4A4.2 4 0 1 1 3.1-.4L-4.6 7H4.8',
  'M-4.2-5A4 3.5 0 1 1-.6-.5A4.2 3.8 0 1 1-4.6 5',
  'M2.4 7V-7L-5 3.2H5.2',
  'M4-7H-3.4L-4-1A4.4 4.3 0 1 1-4.5 5',
  'M2.8-7C-2-5.8-4.4-1.6-4.4 2.6A4.4 4.4 0 1 0 4.4 2.6A4.4 4.4 0 1 0-4.4 2.6',
  'M-4.6-7H4.6L-1.6 7',
  'M-3.6-3.7A3.6 3.3 0 1 1 3.6-3.7A3.6 3.3 0 1 1-3.6-3.7M-4.3 3.3A4.3 3.7 0 1 1 4.3 3.3A4.3 3.7 0 1 1-4.3 3.3',
  'M-2.8 7C2 5.8 4.4 1.6 4.4-2.6A4.4 4.4 0 1 0-4.4-2.6A4.4 4.4 0 1 0 4.4-2.6',
  'M-7.6-4.6L-5-7V7M-.6 0C-.6-9.3 7-9.3 7 0C7 9.3-.6 9.3-.6 0Z',
  'M3.2-7V2.8A3.8 4.2 0 0 1-4.2 4.2',
  'M-5.2 0A5.2 7 0 1 1 5.2 0A5.2 7 0 1 1-5.2 0M1.4 3L5.6 7.6',
  'M-4-7V7M4.8-7L-3.6 1.6M-.7-1.2L5.2 7',
];
const STAR = 'M0-10L2.4-3.3L9.5-3.1L3.9 1.3L5.9 8.1L0 4.1L-5.9 8.1L-3.9 1.3L-9.5-3.1L-2.4-3.3Z';
/** Where the pips of 2 to 10 stand: columns -1, 0, 1; rows 0 (top) to 6. */
const PIPS = [
  [], [[0, 0], [0, 6]], [[0, 0], [0, 3], [0, 6]], [[-1, 0], [1, 0], [-1, 6], [1, 6]], [[-1, 0], [1, 0], [0, 3], [-1, 6], [1, 6]],
  [[-1, 0], [1, 0], [-1, 3], [1, 3], [-1, 6], [1, 6]], [[-1, 0], [1, 0], [0, 1.5], [-1, 3], [1, 3], [-1, 6], [1, 6]],
  [[-1, 0], [1, 0], [0, 1.5], [-1, 3], [1, 3], [0, 4.5], [-1, 6], [1, 6]],
  [[-1, 0], [1, 0], [-1, 2], [1, 2], [0, 3], [-1, 4], [1, 4], [-1, 6], [1, 6]],
  [[-1, 0], [1, 0], [0, 1], [-1, 2], [1, 2], [-1, 4], [1, 4], [0, 5], [-1, 6], [1, 6]],
];

/** @param {number} card */
export const suitOf = (card) => Math.floor(card / RANKS);
/** @param {number} card */
export const rankOf = (card) => card % RANKS;

/** What a card in hand counts against its holder. @param {number} card */
export function handValue(card) {
  if (card === JOKER) return 50;
  const rank = rankOf(card);
  return rank === 0 ? 25 : rank >= 9 ? 10 : rank + 1;
}

/** @param {number[]} cards */
export const handPoints = (cards) => cards.reduce((sum, card) => sum + handValue(card), 0);

/**
 * Name a card in words; a joker with what it stands for, as far as that is known.
 * @param {number} card @param {number|null} [stands] @param {number|null} [rank]
 */
export function cardName(card, stands = null, rank = null) {
  if (card !== JOKER) return t('card.name', { rank: t(`rank.${rankOf(card)}`), suit: t(`suit.${suitOf(card)}`) });
  if (stands !== null && stands !== JOKER) return t('card.joker-for', { card: cardName(stands) });
  if (rank !== null) return t('card.joker-for', { card: t(`rank.${rank}`) });
  return t('card.joker');
}

/** @param {string} tag @param {Record<string, string|number>} attributes @param {...Node} children */
function svg(tag, attributes, ...children) {
  const node = document.createElementNS('http://www.w3.org/2000/svg', tag);
  for (const [name, value] of Object.entries(attributes)) node.setAttribute(name, String(value));
  node.append(...children);
  return node;
}

/** @param {string} d @param {number} x @param {number} y @param {number} scale @param {string} fill */
function shape(d, x, y, scale, fill, turned = false) {
  return svg('path', { d, fill, transform: `translate(${x} ${y}) scale(${scale})${turned ? ' rotate(180)' : ''}` });
}

/** @param {number} rank @param {number} x @param {number} y @param {number} scale @param {string} stroke */
function letter(rank, x, y, scale, stroke, width = 2.7) {
  return svg('path', {
    d: RANKS_DRAWN[rank], transform: `translate(${x} ${y}) scale(${scale})`, fill: 'none', stroke, 'stroke-width': width,
    'stroke-linecap': 'round', 'stroke-linejoin': 'round',
  });
}

/** @param {number} suit */
const colourOf = (suit) => (suit === 1 || suit === 2 ? RED : INK);

/**
 * Draw a card. `card` null lies face down; `stands` and `rank` are what a joker stands for, `seat` marks who laid it.
 * @param {number|null} card @param {{stands?: number|null, rank?: number|null, seat?: number|null}} [more]
 */
export function cardSvg(card, { stands = null, rank = null, seat = null } = {}) {
  const picture = svg('svg', { viewBox: '0 0 60 84', 'aria-hidden': 'true', focusable: 'false', class: 'card-art' });
  const joker = card === JOKER;
  picture.append(svg('rect', {
    x: 0.5, y: 0.5, width: 59, height: 83, rx: 5.5, fill: joker ? LAVENDER : IVORY, stroke: joker ? VIOLET : '#8b949c', 'stroke-width': 1,
  }));
  if (card === null) picture.append(...back());
  else if (joker) picture.append(...jokerFace(stands, rank));
  else picture.append(...face(card));
  if (seat !== null) {
    picture.append(svg('circle', { cx: 11, cy: 73.5, r: 5, fill: SEATS[seat], stroke: INK, 'stroke-width': 1 }));
  }
  return picture;
}

function back() {
  return [
    svg('rect', { x: 3.5, y: 3.5, width: 53, height: 77, rx: 3.5, fill: '#2b5c93' }),
    svg('path', { d: 'M3.5 30L30 3.5L56.500 30V54L30 80.500L3.500 54Z', fill: '#34699f' }),
    svg('rect', { x: 7.5, y: 7.5, width: 45, height: 69, rx: 2, fill: 'none', stroke: '#8fb4de', 'stroke-width': 1.3 }),
    shape(SUITS[1], 30, 42, 1.5, '#8fb4de'),
    shape(SUITS[1], 30, 42, 0.8, '#2b5c93'),
  ];
}

/** @param {number} card */
function face(card) {
  const suit = suitOf(card), rank = rankOf(card), colour = colourOf(suit);
  const parts = [letter(rank, 11.5, 13, 0.95, colour), shape(SUITS[suit], 11.5, 30, 0.66, colour)];
  if (rank === 0) parts.push(shape(SUITS[suit], 36, 46, 1.7, colour));
  else if (rank < 10) {
    for (const [column, row] of PIPS[rank]) parts.push(shape(SUITS[suit], 38 + 11.5 * column, 15 + 9 * row, 0.56, colour, row > 3));
  } else {
    const tint = colour === RED ? '#fbe9e6' : '#e9edf1';
    parts.push(
      svg('rect', { x: 22, y: 8, width: 32, height: 68, rx: 3, fill: tint, stroke: colour, 'stroke-width': 0.9 }),
      letter(rank, 38, 33, 1.55, colour, 2.4), shape(SUITS[suit], 38, 60, 0.95, colour),
    );
  }
  return parts;
}

/** @param {number|null} stands @param {number|null} rank */
function jokerFace(stands, rank) {
  if (stands !== null && stands !== JOKER) {
    const suit = suitOf(stands), colour = colourOf(suit);
    return [
      letter(rankOf(stands), 11.5, 13, 0.95, colour), shape(SUITS[suit], 11.5, 30, 0.66, colour),
      shape(STAR, 11.5, 50, 0.75, VIOLET), shape(STAR, 38, 44, 1.7, VIOLET),
    ];
  }
  if (rank !== null) return [letter(rank, 11.5, 13, 0.95, VIOLET), shape(STAR, 11.5, 33, 0.75, VIOLET), shape(STAR, 38, 44, 1.7, VIOLET)];
  return [shape(STAR, 12.5, 15, 0.9, VIOLET), shape(STAR, 36, 47, 2, VIOLET)];
}
