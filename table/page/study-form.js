// The form of a position: fields for what lies where, a palette of cards, and the same as JSON, each kept in step with the other.

import { cardName, cardSvg } from './cards.js';
import { el, say, set } from './dom.js';
import { RULES, MOST, forget, inPack, meldLines, openedTexts, placed, playersOf, readMelds, rowText } from './study-document.js';
import { cardText, parseCard, pretty } from './study-notation.js';
import { s } from './study-text.js';
import { t } from './text.js';

/**
 * Make the form.
 * @param {any} begin the position to begin with @param {(position: any, typed: boolean) => void} changed hears of each new position @param {(reason: string) => void} wrong hears why the JSON can't be read
 */
export function makeForm(begin, changed, wrong) {
  let position = begin;
  const prefix = 'position';
  /** @type {any} the field that cards of the palette go to */
  let chosen = null;

  /** @param {any} input @param {string} label @param {string} [about] */
  const field = (input, label, about = '') => el('div', { class: 'study-field' }, el('label', { for: input.id, text: label }), input, about ? el('p', { class: 'dim', text: about }) : null);
  const text = (/** @type {string} */ id, /** @type {string} */ tag = 'input', /** @type {Record<string, any>} */ more = {}) => el(tag, { id: `${prefix}-${id}`, class: 'notation', autocomplete: 'off', spellcheck: 'false', autocapitalize: 'off', ...more });
  const number = (/** @type {string} */ id, /** @type {Record<string, any>} */ more = {}) => el('input', { id: `${prefix}-${id}`, type: 'number', step: 1, ...more });
  const select = (/** @type {string} */ id, /** @type {string[][]} */ options) => el('select', { id: `${prefix}-${id}` }, ...options.map(([value, words]) => el('option', { value, text: words })));

  const players = select('players', [2, 3, 4].map((n) => [String(n), String(n)]));
  const seat = select('seat', Array.from({ length: MOST }, (_, i) => [String(i), s('seat', { n: i })]));
  const phase = select('phase', [['draw', s('phase.draw')], ['play', s('phase.play')], ['round over', s('phase.over')], ['game over', s('phase.game-over')]]);
  const hands = Array.from({ length: MOST }, (_, i) => text(`hand-${i}`));
  const opened = Array.from({ length: MOST }, (_, i) => number(`opened-${i}`, { min: 0, 'aria-label': s('position.opened', { seat: s('seat', { n: i }) }), placeholder: s('position.opened-auto'), title: s('position.opened-about') }));
  const row = text('row');
  const melds = text('melds', 'textarea', { rows: 4 });
  const rules = RULES.map(([name, usual, least, most]) => number(`rule-${name}`, { min: least, max: most, placeholder: usual === null ? s('rule.none') : String(usual) }));
  const seatRows = hands.map((hand, i) => el('div', { class: 'study-seat' }, field(hand, s('position.hand', { seat: s('seat', { n: i }) })), field(opened[i], s('position.opened-short'))));
  const json = el('textarea', { id: 'position-json', class: 'study-json', rows: 10, spellcheck: 'false', autocomplete: 'off', autocapitalize: 'off' });
  const chosenNote = el('p', { class: 'dim', 'aria-live': 'polite' });
  const forgot = el('p', { class: 'dim', role: 'status' });
  const palette = el('div', { class: 'palette', role: 'group', 'aria-label': s('palette') }, ...Array.from({ length: 53 }, (_, card) => el('button', { type: 'button', class: 'card', 'data-card': cardText(card), title: cardName(card), 'aria-label': cardName(card), on: { click: () => put(card) } }, cardSvg(card))));
  const element = el('form', { id: 'position-form', class: 'study-form' },
    el('div', { class: 'study-fields' }, field(players, s('position.players')), field(seat, s('position.seat')), field(phase, s('position.phase'))),
    ...seatRows, field(row, s('position.row'), s('position.row-about')), field(melds, s('position.melds'), s('position.melds-about')),
    el('div', { class: 'palette-box' }, chosenNote, palette), forgot,
    el('details', {}, el('summary', { text: s('position.rules') }), el('div', { class: 'study-fields' }, ...rules.map((input, i) => field(input, s(`rule.${RULES[i][0]}`))))),
    el('details', { open: true }, el('summary', { text: s('position.json') }), field(json, s('position.json-label'))));

  element.addEventListener('submit', (/** @type {Event} */ event) => event.preventDefault());
  element.addEventListener('focusin', (/** @type {FocusEvent} */ event) => { if ([...hands, row, melds].includes(event.target)) choose(event.target); });
  json.addEventListener('input', () => {
    try {
      const read = JSON.parse(json.value);
      if (read === null || typeof read !== 'object' || Array.isArray(read)) throw new SyntaxError(s('position.no-object'));
      position = read;
    } catch (error) {
      wrong(s('position.no-json', { error: error instanceof Error ? error.message : '' }));
      return;
    }
    say(forgot, '');
    fill();
    changed(position, true);
  });
  for (const [i, hand] of hands.entries()) edit(hand, () => { position.hands = listed(position.hands, playersOf(position), ''); position.hands[i] = tidy(hand.value); }, true);
  for (const input of opened) edit(input, () => {
    const values = opened.slice(0, playersOf(position)).map((each) => (each.value === '' ? null : Number(each.value)));
    if (values.every((value) => value === null)) delete position.opened;
    else position.opened = values;
  });
  edit(row, () => { position.row = tidy(row.value); }, true);
  edit(melds, () => { position.melds = readMelds(melds.value); }, true);
  edit(seat, () => {
    position.seat = Number(seat.value);
    delete position.turn;
    position.row = rowText(position.row);
  }, true);
  edit(phase, () => { position.phase = phase.value; });
  edit(players, () => {
    const count = Number(players.value);
    position.hands = listed(position.hands, count, '');
    position.rules = { ...position.rules };
    if (count === 2) delete position.rules.players;
    else position.rules.players = count;
    for (const key of ['opened', 'totals', 'last_round', 'turn']) delete position[key];
    position.row = rowText(position.row);
    if ((position.seat ?? 0) >= count) position.seat = 0;
    fill();
  }, true);
  rules.forEach((input, i) => edit(input, () => {
    const name = RULES[i][0];
    position.rules = { ...position.rules };
    if (input.value === '') delete position.rules[name];
    else position.rules[name] = Number(input.value);
  }, RULES[i][0] === 'jokers'));

  /** Let a field write its part of the position. @param {any} input @param {() => void} write @param {boolean} [cards] whether the stock may no longer agree */
  function edit(input, write, cards = false) {
    input.addEventListener(input.tagName === 'SELECT' ? 'change' : 'input', () => {
      position = { ...position };
      write();
      say(forgot, cards && forget(position) ? s('position.forgot') : forgot.textContent ?? '');
      json.value = pretty(position);
      count();
      changed(position, false);
    });
  }

  /** @param {any} field_ */
  function choose(field_) {
    for (const each of [...hands, row, melds]) each.classList.toggle('chosen', each === field_);
    chosen = field_;
    say(chosenNote, s('palette.to', { field: element.querySelector(`label[for="${field_.id}"]`)?.textContent ?? '' }));
  }

  /** Put a card of the palette into the chosen field, at its end. @param {number} card */
  function put(card) {
    const value = chosen.value;
    chosen.value = value + (value === '' || /\s$/.test(value) ? '' : ' ') + cardText(card);
    chosen.dispatchEvent(new Event('input', { bubbles: true }));
    chosen.scrollLeft = chosen.scrollWidth;
  }

  /** Fill all fields but the one that is being written in. */
  function fill() {
    const count_ = playersOf(position), when = openedTexts(position);
    const put_ = (/** @type {any} */ input, /** @type {string} */ value) => { if (input !== document.activeElement && input.value !== value) input.value = value; };
    put_(players, String(count_));
    put_(seat, String(typeof position.seat === 'number' ? position.seat : 0));
    for (const [i, option] of [...seat.options].entries()) option.hidden = option.disabled = i >= count_;
    put_(phase, typeof position.phase === 'string' ? position.phase : 'draw');
    hands.forEach((hand, i) => {
      put_(hand, typeof position.hands?.[i] === 'string' ? position.hands[i] : '');
      seatRows[i].hidden = i >= count_;
      put_(opened[i], when[i] ?? '');
    });
    put_(row, rowText(position.row));
    put_(melds, meldLines(position.melds));
    rules.forEach((input, i) => put_(input, typeof position.rules?.[RULES[i][0]] === 'number' ? String(position.rules[RULES[i][0]]) : ''));
    if (chosen === null || seatRows.some((one) => one.hidden && one.contains(chosen))) choose(hands[0]);
    count();
  }

  /** Show of which cards none is left. */
  function count() {
    const counts = placed(position, parseCard);
    [...palette.children].forEach((node, card) => {
      const left = inPack(position, card) - counts[card];
      node.classList.toggle('gone', left <= 0);
      set(node, 'aria-label', s('palette.card', { card: cardName(card), n: Math.max(0, left) }));
      set(node, 'title', s('palette.card', { card: cardName(card), n: Math.max(0, left) }));
    });
  }

  fill();
  json.value = pretty(position);
  return {
    element,
    get position() { return position; },
    /** Set another position up. @param {any} next */
    use(next) {
      position = next;
      say(forgot, '');
      fill();
      json.value = pretty(position);
      changed(position, false);
    },
  };
}

/** @param {string} value */
const tidy = (value) => value.trim().split(/\s+/).filter(Boolean).join(' ');

/** @param {any} list @param {number} count @param {string} empty @returns {any[]} */
function listed(list, count, empty) {
  const given = Array.isArray(list) ? list : [];
  return Array.from({ length: count }, (_, i) => given[i] ?? empty);
}
