// Sets and runs as pure logic: what cards make up, what they count, which actions lay them, and how to order a hand.

import { LAY_RUN, LAY_SET, MELD, MELD_FORMS, RUN_JOKERS, SET_SUITS } from './actions.js';
import { JOKER, RANKS, rankOf, suitOf } from './cards.js';

/**
 * @typedef {{set: boolean, base: number, low: number, cards: [number, number][], points: number, actions: (meld: number) => number[]}} Meld
 * `cards` in order, each as it is laid and what it stands for (52: a set's joker whose suit is open); `base` rank of a set, suit of a run.
 */
const PLACES = 14;
/** @param {number} place */
const placeValue = (place) => (place >= 9 ? 10 : place + 1);
/** @param {number} rank */
const setValue = (rank) => (rank === 0 ? 25 : rank >= 9 ? 10 : rank + 1);

/** Return the meld that cards make up, or null. The order matters only for where a spare joker goes. @param {number[]} cards @returns {Meld|null} */
export function meldOf(cards) {
  if (cards.length < 3 || cards.length > PLACES) return null;
  const naturals = cards.filter((card) => card !== JOKER);
  if (naturals.length === 0) return null;
  const jokers = cards.length - naturals.length;
  if (naturals.length > 1 && naturals.every((card) => rankOf(card) === rankOf(naturals[0]))) {
    const meld = setOf(naturals, jokers);
    if (meld) return meld;
  }
  return naturals.every((card) => suitOf(card) === suitOf(naturals[0])) ? runOf(cards, naturals, jokers) : null;
}

/** @param {number[]} naturals @param {number} jokers @returns {Meld|null} */
function setOf(naturals, jokers) {
  const rank = rankOf(naturals[0]);
  const suits = naturals.map(suitOf).sort((a, b) => a - b);
  if (new Set(suits).size < suits.length || jokers > 1 || suits.length + jokers > 4) return null;
  /** @type {[number, number][]} */
  const laid = suits.map((suit) => [RANKS * suit + rank, RANKS * suit + rank]);
  if (jokers) laid.push([JOKER, suits.length === 3 ? RANKS * (6 - suits[0] - suits[1] - suits[2]) + rank : JOKER]);
  const base = suits.slice(0, 3);
  const form = SET_SUITS.findIndex((each) => each.length === base.length && each.every((suit, i) => suit === base[i]));
  return {
    set: true, base: rank, low: 0, cards: laid, points: setValue(rank) * laid.length,
    actions(meld) {
      const added = laid.length < 4 ? [] : [MELD + MELD_FORMS * meld + (jokers ? 4 : suits[3])];
      return [LAY_SET + 10 * rank + form, ...added];
    },
  };
}

/** @param {number[]} cards @param {number[]} naturals @param {number} jokers @returns {Meld|null} */
function runOf(cards, naturals, jokers) {
  const suit = suitOf(naturals[0]);
  const aces = naturals.filter((card) => rankOf(card) === 0).length;
  const others = naturals.map(rankOf).filter((rank) => rank > 0);
  const choices = aces === 0 ? [[]] : aces === 1 ? [[0], [13]] : aces === 2 ? [[0, 13]] : [];
  /** @type {Meld|null} */
  let best = null;
  for (const ends of choices) {
    const places = [...ends, ...others].sort((a, b) => a - b);
    const run = runAt(cards, suit, places, jokers);
    if (run && (best === null || run.points > best.points)) best = run;
  }
  return best;
}

/** @param {number[]} cards @param {number} suit @param {number[]} places @param {number} jokers @returns {Meld|null} */
function runAt(cards, suit, places, jokers) {
  let spare = jokers;
  for (let i = 1; i < places.length; i += 1) {
    const step = places[i] - places[i - 1];
    if (step < 1 || step > 2) return null;
    spare -= step - 1;
  }
  let low = places[0], high = places[places.length - 1];
  if (spare < 0 || spare > Number(low > 0) + Number(high < PLACES - 1)) return null;
  if (spare === 2) { low -= 1; high += 1; }
  else if (spare === 1) {
    const wantsLow = jokerFirst(cards) !== isDescending(cards);
    if ((wantsLow && low > 0) || high === PLACES - 1) low -= 1;
    else high += 1;
  }
  /** @type {[number, number][]} */
  const laid = [];
  let points = 0;
  for (let place = low; place <= high; place += 1) {
    const card = RANKS * suit + (place % RANKS);
    laid.push([places.includes(place) ? card : JOKER, card]);
    points += placeValue(place);
  }
  return {
    set: false, base: suit, low, cards: laid, points,
    actions(meld) {
      const holes = [0, 1, 2].filter((i) => laid[i][0] === JOKER);
      const form = RUN_JOKERS.findIndex((each) => each.join() === holes.join());
      const rest = laid.slice(3).map(([card]) => MELD + MELD_FORMS * meld + (card === JOKER ? 3 : 2));
      return [LAY_RUN + 5 * (12 * suit + low) + form, ...rest];
    },
  };
}

/** Whether a joker stands at the side of the hand where the first natural is, or else at the end. @param {number[]} cards */
function jokerFirst(cards) {
  return cards[0] === JOKER;
}

/** Whether the naturals go down from left to right. @param {number[]} cards */
function isDescending(cards) {
  const ranks = cards.filter((card) => card !== JOKER).map(rankOf).filter((rank) => rank > 0);
  return ranks.length > 1 && ranks.every((rank, i) => i === 0 || rank < ranks[i - 1]);
}

/**
 * Return the best melds that lie side by side in a hand, as {from, to (exclusive), meld}, by points.
 * @param {number[]} hand @returns {{from: number, to: number, meld: Meld}[]}
 */
export function findMelds(hand) {
  /** @type {{value: number, last: {from: number, to: number, meld: Meld}|null}[]} */
  const best = [{ value: 0, last: null }];
  for (let to = 1; to <= hand.length; to += 1) {
    best[to] = { value: best[to - 1].value, last: null };
    for (let from = to - 3; from >= Math.max(0, to - PLACES); from -= 1) {
      const meld = meldOf(hand.slice(from, to));
      if (meld && best[from].value + meld.points > best[to].value) best[to] = { value: best[from].value + meld.points, last: { from, to, meld } };
    }
  }
  const found = [];
  for (let at = hand.length; at > 0;) {
    const { last } = best[at];
    if (last) found.unshift(last);
    at = last ? last.from : at - 1;
  }
  return found;
}

/** Order by suit, then rank; jokers last. @param {number[]} hand @returns {number[]} positions of the cards in their new order */
export function sortBySuit(hand) {
  return order(hand, (card) => card);
}

/** Order by rank, then suit; jokers last. @param {number[]} hand @returns {number[]} */
export function sortByRank(hand) {
  return order(hand, (card) => (card === JOKER ? 99 : 4 * rankOf(card) + suitOf(card)));
}

/** @param {number[]} hand @param {(card: number) => number} key */
function order(hand, key) {
  return hand.map((_, i) => i).sort((a, b) => key(hand[a]) - key(hand[b]) || a - b);
}

/**
 * Order a hand so that a good choice of melds lies together, the melds first. Returns positions in their new order.
 * @param {number[]} hand @returns {number[]}
 */
export function arrange(hand) {
  const left = Array(53).fill(0);
  for (const card of hand) left[card] += 1;
  const chosen = bestMelds(left);
  const free = hand.map((_, i) => i);
  const taken = chosen.flatMap((cards) => cards.map((card) => free.splice(free.findIndex((i) => hand[i] === card), 1)[0]));
  return [...taken, ...sortBySuit(free.map((i) => hand[i])).map((i) => free[i])];
}

/** Choose melds of the most points by a bounded search. @param {number[]} left how many of each card there are @returns {number[][]} */
function bestMelds(left) {
  const candidates = candidatesOf(left).sort((a, b) => b.worth - a.worth);
  let best = 0, nodes = 0;
  /** @type {number[][]} */
  let found = [];
  /** @type {number[][]} */
  const chosen = [];
  const bound = (/** @type {number} */ from) => candidates.length > from ? candidates[from].worth / candidates[from].cards.length : 0;
  /** @param {number} from @param {number} worth @param {number} cards */
  const search = (from, worth, cards) => {
    nodes += 1;
    if (worth > best) { best = worth; found = [...chosen]; }
    if (nodes > 40_000 || cards < 3) return;
    for (let i = from; i < candidates.length; i += 1) {
      const one = candidates[i];
      if (worth + 25 * cards <= best || (bound(i) === 0)) return;
      one.cards.forEach((card) => { left[card] -= 1; });
      if (one.cards.every((card) => left[card] >= 0)) {
        chosen.push(one.cards);
        search(i, worth + one.worth, cards - one.cards.length);
        chosen.pop();
      }
      one.cards.forEach((card) => { left[card] += 1; });
    }
  };
  search(0, 0, left.reduce((a, b) => a + b, 0));
  return found;
}

/** List the melds that a hand could lay; a joker stands only where the card is missing. @param {number[]} left */
function candidatesOf(left) {
  const jokers = left[JOKER];
  /** @type {{cards: number[], worth: number}[]} */
  const found = [];
  const add = (/** @type {number[]} */ cards) => {
    const meld = meldOf(cards);
    const used = cards.filter((card) => card === JOKER).length;
    if (meld && used <= jokers) found.push({ cards, worth: meld.points - 6 * used });
  };
  for (let rank = 0; rank < RANKS; rank += 1) {
    for (let bits = 1; bits < 16; bits += 1) {
      const cards = [0, 1, 2, 3].filter((suit) => bits >> suit & 1).map((suit) => RANKS * suit + rank);
      if (cards.length < 2 || !cards.every((card) => left[card])) continue;
      add(cards);
      add([...cards, JOKER]);
    }
  }
  for (let suit = 0; suit < 4; suit += 1) {
    for (let low = 0; low < 12; low += 1) {
      const cards = [];
      for (let place = low; place < PLACES; place += 1) {
        const card = RANKS * suit + (place % RANKS);
        cards.push(left[card] - Number(place === 13 && cards[0] === card) > 0 ? card : JOKER);
        if (cards.length > 1 && cards.at(-1) === JOKER && cards.at(-2) === JOKER) break;
        if (cards.length >= 3) add([...cards]);
      }
    }
  }
  return found;
}
