// The own hand: the fan, its order (kept here, whatever the server says), sorting, and the blue lines under melds.

import { cardName, cardSvg, handPoints } from './cards.js';
import { announce, el, set, say, sync } from './dom.js';
import { draggable } from './drag.js';
import { fanLayout } from './fan.js';
import { arrange, findMelds, sortByRank, sortBySuit } from './melds.js';
import { EASE, moving } from './motion.js';
import { minus, t } from './text.js';

/**
 * @typedef {{card: number, key: string, staged: boolean, leaving: boolean, fresh: boolean}} Item a card that is held
 * @typedef {{items: Item[], meld: import('./melds.js').Meld}} Group melds that lie side by side
 */

/**
 * Make the hand.
 * @param {{
 *   press: (item: Item, byKey: boolean) => void, group: (group: Group) => void, pick: (item: Item|null) => void, drop: (item: Item, x: number, y: number) => boolean,
 *   drag: (item: Item, x: number, y: number) => void, up: (item: Item) => void,
 * }} on what happens when a card is pressed, a blue line is pressed, a card is looked at (or picked up), dropped outside, dragged, left upwards by key
 */
export function makeHand(on) {
  /** @type {Item[]} */
  let items = [];
  let made = 0, store = '', round = -1, canPlay = false, focus = '';
  /** @type {Item|null} */
  let dragged = null;
  let pickedAt = 0;
  /** @type {number|null} */
  let hinted = null;
  /** @type {Map<string, string>} */
  const placed = new Map();
  const fan = el('div', { class: 'fan', role: 'group' });
  const lines = el('div', { class: 'lines' });
  const box = el('div', { class: 'hand' }, fan, lines);
  const name = el('span', { class: 'my-name' }), points = el('span', { class: 'my-points' });
  const element = el('div', { class: 'hand-area' }, box, el('p', { class: 'hand-label' }, name, ' ', points));
  new ResizeObserver(() => render(false)).observe(box);

  const visible = () => items.filter((item) => !item.staged);
  const nodeOf = (/** @type {Item} */ item) => /** @type {HTMLElement|undefined} */ ([...fan.children].find((node) => /** @type {any} */ (node)._key === item.key));

  /** Whether somebody goes about with keys, which the mouse that lies around must not disturb. */
  const byKeys = () => document.activeElement?.matches('.fit-arrow, .hand .card:focus-visible') ?? false;

  /** Return the melds that lie side by side. @returns {Group[]} */
  function groups() {
    const shown = visible();
    return findMelds(shown.map((item) => item.card)).map(({ from, to, meld }) => ({ items: shown.slice(from, to), meld }));
  }

  /** Take the cards that the server says are held: known ones keep their place, new ones go to the end. @returns {Item[]} the new ones */
  function setCards(/** @type {number[]} */ cards, /** @type {string} */ key, /** @type {number} */ ofRound) {
    if (key !== store || ofRound !== round) items = remembered(key, ofRound);
    store = key;
    round = ofRound;
    const counts = Array(53).fill(0);
    for (const card of cards) counts[card] += 1;
    const keep = new Set();
    for (const leaving of [false, true]) {
      for (const item of items) {
        if (item.leaving === leaving && counts[item.card] > 0) {
          counts[item.card] -= 1;
          keep.add(item);
        }
      }
    }
    items = items.filter((item) => keep.has(item));
    for (const item of items) { item.leaving = false; item.fresh = false; }
    const fresh = cards.filter((card) => counts[card]-- > 0).map(newItem);
    for (const item of fresh) item.fresh = items.length > 0;
    items.push(...fresh);
    remember();
    return fresh;
  }

  /** @param {number} card @returns {Item} */
  function newItem(card) {
    made += 1;
    return { card, key: `c${made}`, staged: false, leaving: false, fresh: false };
  }

  function remember() {
    if (store) sessionStorage.setItem(store, JSON.stringify({ round, cards: items.map((item) => item.card) }));
  }

  function remembered(/** @type {string} */ key, /** @type {number} */ ofRound) {
    try {
      const kept = JSON.parse(sessionStorage.getItem(key) ?? '');
      return kept.round === ofRound ? kept.cards.map(newItem) : [];
    } catch {
      return [];
    }
  }

  /** Put the cards in another order, given as positions among the visible ones. */
  function reorder(/** @type {number[]} */ order) {
    const shown = visible();
    const renewed = order.map((i) => shown[i]);
    items = items.map((item) => (item.staged ? item : /** @type {Item} */ (renewed.shift())));
    remember();
    render();
  }

  /** Move a card to a place among the visible ones. */
  function moveTo(/** @type {Item} */ item, /** @type {number} */ to) {
    const others = visible().filter((other) => other !== item);
    const next = others[to];
    items = items.filter((other) => other !== item);
    items.splice(next ? items.indexOf(next) : items.length, 0, item);
  }

  function render(animate = true) {
    const shown = visible();
    const layout = fanLayout(box, shown.length);
    box.style.height = `${layout.height}px`;
    set(fan, 'aria-label', t('hand.label', { n: shown.length }));
    const hadFocus = fan.contains(document.activeElement) && document.activeElement?.matches(':focus-visible');
    const focusAt = [...fan.children].findIndex((node) => /** @type {any} */ (node)._key === focus);
    if (!shown.some((item) => item.key === focus)) focus = shown[Math.max(0, Math.min(focusAt, shown.length - 1))]?.key ?? '';
    const renew = (/** @type {HTMLElement} */ node, /** @type {Item} */ item, /** @type {number} */ i) => {
      const label = cardName(item.card);
      set(node, 'aria-label', label);
      set(node, 'title', label);
      set(node, 'tabindex', item.key === focus ? '0' : '-1');
      node.classList.toggle('fresh', item.fresh);
      node.classList.toggle('playable', canPlay);
      node.classList.toggle('hinted', hinted === item.card && shown.findIndex((other) => other.card === hinted) === i);
      node.style.width = `${layout.card}px`;
      node.style.zIndex = String(i + 1);
      if (item === dragged) return;
      const { x, y, turn } = layout.at(i);
      const to = `translate(${x.toFixed(1)}px, ${y.toFixed(1)}px) rotate(${turn.toFixed(2)}deg)`;
      const from = placed.get(item.key);
      node.style.transform = to;
      placed.set(item.key, to);
      if (animate && from && from !== to && moving()) node.animate([{ transform: from }, { transform: to }], { duration: 190, easing: EASE });
    };
    // While a card is dragged nothing moves in the document, so that the finger stays on it.
    const nodes = dragged ? shown.map(nodeOf) : [];
    if (dragged && nodes.length === fan.childElementCount && nodes.every(Boolean)) shown.forEach((item, i) => renew(/** @type {HTMLElement} */ (nodes[i]), item, i));
    else sync(fan, shown, (item) => item.key, make, renew);
    if (hadFocus && !fan.contains(document.activeElement)) focusItem(shown.find((item) => item.key === focus));
    drawLines(shown, layout);
    say(points, t('hand.points', { n: minus(-handPoints(items.map((item) => item.card))) }));
  }

  /** @param {Item} item */
  function make(item) {
    const node = el('button', { type: 'button', class: 'card', 'data-card': item.card }, cardSvg(item.card));
    node.addEventListener('click', (/** @type {MouseEvent} */ event) => on.press(item, event.detail === 0));
    node.addEventListener('focus', () => {
      focus = item.key;
      retab();
      if (node.matches(':focus-visible')) on.pick(item);
    });
    node.addEventListener('blur', (/** @type {FocusEvent} */ event) => {
      if (!(/** @type {HTMLElement|null} */ (event.relatedTarget))?.classList.contains('fit-arrow')) on.pick(null);
    });
    node.addEventListener('pointerenter', (/** @type {PointerEvent} */ event) => { if (event.pointerType === 'mouse' && !dragged && !byKeys()) on.pick(item); });
    node.addEventListener('pointerleave', (/** @type {PointerEvent} */ event) => { if (event.pointerType === 'mouse' && !dragged && !byKeys()) on.pick(null); });
    node.addEventListener('keydown', (/** @type {KeyboardEvent} */ event) => keyed(event, item));
    draggable(node, {
      start() {
        dragged = item;
        pickedAt = visible().indexOf(item);
        node.classList.add('dragging');
        on.pick(item);
        return true;
      },
      move(x, y) {
        const home = box.getBoundingClientRect();
        node.style.transform = `translate(${x - home.left - node.offsetWidth / 2}px, ${y - home.top - node.offsetHeight * 0.6}px)`;
        placed.set(item.key, node.style.transform);
        const to = y > home.top - 16 ? fanLayout(box, visible().length).indexAt(x - home.left, y - home.top) : pickedAt;
        if (visible().indexOf(item) !== to) {
          moveTo(item, to);
          render();
        }
        on.drag(item, x, y);
      },
      end(x, y) {
        release(node);
        const home = box.getBoundingClientRect();
        if (y < home.top - 16) on.drop(item, x, y);
        on.pick(null);
        remember();
        render();
      },
      cancel() { release(node); on.pick(null); render(); },
    });
    return node;
  }

  function release(/** @type {HTMLElement} */ node) {
    dragged = null;
    node.classList.remove('dragging');
  }

  function retab() {
    for (const node of fan.children) set(node, 'tabindex', /** @type {any} */ (node)._key === focus ? '0' : '-1');
  }

  function keyed(/** @type {KeyboardEvent} */ event, /** @type {Item} */ item) {
    const shown = visible(), at = shown.indexOf(item);
    const step = event.key === 'ArrowLeft' ? -1 : event.key === 'ArrowRight' ? 1 : 0;
    if (event.key === 'ArrowUp') {
      on.pick(item);
      on.up(item);
    } else if (event.key === 'Home' || event.key === 'End') focusItem(event.key === 'Home' ? shown[0] : shown[shown.length - 1]);
    else if (step && event.shiftKey) {
      const to = Math.max(0, Math.min(shown.length - 1, at + step));
      moveTo(item, to);
      remember();
      render();
      focusItem(item);
      announce(t('hand.moved', { card: cardName(item.card), n: to + 1 }));
    } else if (step) focusItem(shown[(at + step + shown.length) % shown.length]);
    else return;
    event.preventDefault();
  }

  function focusItem(/** @type {Item|undefined} */ item) {
    if (item) nodeOf(item)?.focus({ preventScroll: true });
  }

  function drawLines(/** @type {Item[]} */ shown, /** @type {ReturnType<typeof fanLayout>} */ layout) {
    const parts = groups().flatMap((group) => layout.spans(shown.indexOf(group.items[0]), shown.indexOf(group.items[0]) + group.items.length)
      .map((span, i) => ({ group, span, first: i === 0 })));
    sync(lines, parts, ({ group, first }) => `${group.items.map((item) => item.key)}${first}`,
      () => el('button', { type: 'button', class: 'group-line' }, el('span', { class: 'bar' }), el('span', { class: 'worth' })),
      (node, { group, span, first }) => {
        node.style.left = `${span.left}px`;
        node.style.top = `${span.top}px`;
        node.style.width = `${span.width}px`;
        node.style.transform = `rotate(${span.turn.toFixed(2)}deg)`;
        const what = group.meld.cards.map(([card, stands]) => cardName(card, stands, group.meld.set ? group.meld.base : null)).join(', ');
        const label = t('hand.group', { cards: what, n: group.meld.points });
        set(node, 'aria-label', label);
        set(node, 'title', label);
        set(node, 'tabindex', first ? '0' : '-1');
        set(node, 'aria-disabled', canPlay ? null : 'true');
        say(node.lastElementChild, first ? String(group.meld.points) : '');
        node.onclick = () => on.group(group);
      });
  }

  return {
    element, groups, setCards, render, visible, nodeOf, focusItem,
    /** @param {string} text */
    setName(text) { say(name, text); },
    /** @param {boolean} can @param {number|null} [hint] */
    setMode(can, hint = null) { canPlay = can; hinted = hint; },
    sortSuit: () => reorder(sortBySuit(visible().map((item) => item.card))),
    sortRank: () => reorder(sortByRank(visible().map((item) => item.card))),
    arrange: () => reorder(arrange(visible().map((item) => item.card))),
    get items() { return items; },
    get dragging() { return dragged !== null; },
    get focused() { return visible().find((item) => item.key === focus) ?? null; },
  };
}
