// A position as a document of JSON, and its parts as texts of a form. What a field does not touch stays as it was written.

export const RULES = /** @type {const} */ ([
  ['opening_points', 40, 0, 1_000_000], ['target', null, 1, 1_000_000], ['jokers', 6, 0, 6], ['hand_size', 13, 1, 19], ['hand_limit', 20, 2, 20], ['closing_bonus', 30, 0, 1_000_000],
  ['hand_jolly_factor', 2, 1, 1_000_000], ['recycle_keep', 3, 0, 1_000_000], ['max_turns', 200, 1, 1_000_000], ['max_rounds', 100, 1, 1_000_000],
]);
export const MOST = 4;
/** Keys that no longer agree once the cards that lie about change; the server works them out anew. */
const DERIVED = ['stock', 'leftovers', 'recycled', 'known', 'discarded', 'history', 'draws', 'decisions'];

/** A position to begin with. */
export function example() {
  return {
    hands: ['4c 5c 7c 7d 9d Th Jh Kh Ks *', 'Ad 2d 3h 6h 6s 8s Ts Qs Qd'], seat: 0, phase: 'play', melds: [{ cards: '5h 6h *7h', seats: 1 }, { cards: 'Kc Kd Kh', seats: 1 }, { cards: '9s Ts Js Qs', seats: 0 }],
    row: '3c 8h 2s', stock: '...', seed: 7,
  };
}

/** Number of players of a position. @param {any} position */
export const playersOf = (position) => (Array.isArray(position.hands) ? Math.max(2, Math.min(MOST, position.hands.length)) : 2);

/** Forget what the cards on the table no longer agree with; true if there was something. @param {any} position */
export function forget(position) {
  const had = DERIVED.filter((key) => key in position && position[key] !== '...' && position[key] !== null);
  for (const key of DERIVED) delete position[key];
  return had.length > 0;
}

/** The row as a text. @param {any} row */
export function rowText(row) {
  return Array.isArray(row) ? row.map((entry) => (Array.isArray(entry) ? entry[0] : entry)).join(' ') : typeof row === 'string' ? row : '';
}

/** Melds as lines such as "0: 5h 6h *7h"; "@6" is the turn in which one was laid. @param {any} melds */
export function meldLines(melds) {
  if (!Array.isArray(melds)) return '';
  return melds.map((meld) => {
    const seats = Array.isArray(meld?.seats) ? meld.seats : [meld?.seats ?? 0];
    const same = seats.every((/** @type {number} */ seat) => seat === seats[0]);
    return `${(same ? seats.slice(0, 1) : seats).join(' ')}: ${meld?.cards ?? ''}${meld?.turn === undefined || meld?.turn === null ? '' : ` @${meld.turn}`}`;
  }).join('\n');
}

/** Read lines of melds: numbers are seats, wherever they stand. @param {string} text */
export function readMelds(text) {
  return text.split('\n').map((line) => line.replace(/[:,;()]/g, ' ').split(/\s+/).filter(Boolean)).filter((line) => line.length > 0).map((line) => {
    const seats = line.filter((word) => /^\d+$/.test(word)).map(Number);
    const turn = line.find((word) => /^@\d+$/.test(word));
    const cards = line.filter((word) => !/^@?\d+$/.test(word)).join(' ');
    return { cards, seats: seats.length > 1 ? seats : seats[0] ?? 0, ...(turn ? { turn: Number(turn.slice(1)) } : {}) };
  });
}

/** When each seat opened, as texts; empty where the melds tell. @param {any} position */
export function openedTexts(position) {
  const given = Array.isArray(position.opened) ? position.opened : [];
  return Array.from({ length: playersOf(position) }, (_, seat) => (typeof given[seat] === 'number' ? String(given[seat]) : ''));
}

/** Count the cards that are placed, by number. @param {any} position @param {(word: string) => number|null} parse */
export function placed(position, parse) {
  const counts = Array(53).fill(0);
  const texts = [...(Array.isArray(position.hands) ? position.hands : []), rowText(position.row), ...(Array.isArray(position.melds) ? position.melds.map((/** @type {any} */ meld) => meld?.cards) : [])];
  for (const text of texts) {
    for (const word of typeof text === 'string' ? text.split(/\s+/) : []) {
      const card = word ? parse(word) : null;
      if (card !== null) counts[card] += 1;
    }
  }
  return counts;
}

/** How many of a card the pack has. @param {any} position @param {number} card */
export function inPack(position, card) {
  return card === 52 ? position.rules?.jokers ?? 6 : position.rules?.pack?.[card] ?? 2;
}
