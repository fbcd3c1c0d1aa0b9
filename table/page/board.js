// The table itself: draws a VIEW, with players around, stock and row, melds, and lets cards fly to where they go.

import { DISCARD, MELD, atMeld, decode, told } from './actions.js';
import { cardName, cardSvg } from './cards.js';
import { el, say, set, sync } from './dom.js';
import { over } from './drag.js';
import { drawMelds } from './meldview.js';
import { fly, ghost } from './motion.js';
import { makePlayer, sideOf } from './players.js';
import { t } from './text.js';

/**
 * Make a table. All hooks may be left out; then the table is only looked at.
 * @param {{stock?: () => void, take?: (count: number) => void, fit?: (action: number) => void, leaveArrows?: () => void, info?: (seat: number) => void}} [on]
 */
export function makeBoard(on = {}) {
  const stock = el('button', { type: 'button', id: 'stock', class: 'card pile' }, cardSvg(null), el('span', { class: 'pile-count' }));
  stock.addEventListener('click', () => on.stock?.());
  const row = el('div', { id: 'row', role: 'group' });
  const takeNote = el('p', { class: 'take-note', hidden: true });
  const last = el('p', { class: 'last-play' });
  const piles = el('div', { class: 'piles' }, el('div', { class: 'pile-line' }, stock, row), takeNote, last);
  const melds = el('div', { class: 'melds' });
  const middle = el('div', { class: 'middle' }, melds);
  const own = el('div', { class: 'own' });
  const element = el('div', { class: 'felt' }, piles, middle, own);
  /** @type {any} */
  let view = null;
  /** @type {number[]} */
  let fits = [];
  /** @type {number|null} */
  let hinted = null;
  /** @type {any[]} */
  let panels = [];
  row.addEventListener('pointerleave', () => preview(0));
  row.addEventListener('focusout', () => preview(0));

  /**
   * Draw a view. `from` says where the cards come from that a seat plays, if not from its panel.
   * @param {any} next @param {(card: number) => DOMRect|null} [from]
   */
  function draw(next, from) {
    const before = view && view.table === next.table && view.round === next.round ? snapshot() : null;
    const old = view;
    view = next;
    if (!old || next.version === undefined || old.version !== next.version) {
      fits = [];
      hinted = null;
    }
    element.dataset.players = String(view.players.length);
    element.dataset.state = view.state;
    set(element, 'data-many', (view.melds?.length ?? 0) > (innerWidth < 620 ? 5 : 10));
    drawPlayers();
    drawPiles();
    redrawMelds();
    say(last, view.last ? told(view.last, view) : '');
    if (before && old.version !== next.version) animate(before, old, from);
  }

  function drawPlayers() {
    const base = view.you ?? 0;
    const shown = view.players.filter((/** @type {any} */ player) => player.seat !== view.you);
    if (panels.length !== shown.length || panels.some((panel, i) => panel.dataset.seat !== String(shown[i].seat))) {
      for (const panel of panels) panel.remove();
      panels = shown.map((/** @type {any} */ player) => makePlayer(player.seat, (seat) => on.info?.(seat)));
      for (const panel of panels) element.insertBefore(panel, middle);
    }
    panels.forEach((panel) => {
      const side = sideOf(Number(panel.dataset.seat), view.players.length, base);
      panel.dataset.side = side;
      if (side === 'own' && panel.parentNode !== own) own.append(panel);
      panel.renew(view);
    });
  }

  function drawPiles() {
    const playing = view.stock !== undefined;
    piles.hidden = !playing;
    if (!playing) return;
    const legal = view.legal ?? [];
    say(stock.lastElementChild, String(view.stock));
    set(stock, 'aria-label', t('stock.label', { n: view.stock }));
    set(stock, 'title', t('stock.label', { n: view.stock }));
    stock.classList.toggle('empty', view.stock === 0);
    stock.classList.toggle('can', legal.includes(0));
    set(stock, 'aria-disabled', legal.includes(0) ? null : 'true');
    stock.classList.toggle('hinted', hinted === 0);
    row.style.setProperty('--count', String(Math.max(2, view.row.length)));
    row.classList.toggle('empty', view.row.length === 0);
    set(row, 'aria-label', t('row.label', { n: view.row.length }));
    sync(row, view.row, (/** @type {number} */ card, i) => `${view.round}-${i}-${card}`,
      (card) => el('button', { type: 'button', class: 'card', 'data-card': card }, cardSvg(card)),
      (node, card, i) => {
        const count = view.row.length - i;
        set(node, 'data-index', i);
        set(node, 'aria-label', t('row.card', { card: cardName(card), n: count }));
        node.classList.toggle('can', legal.includes(count));
        node.classList.toggle('hinted', hinted !== null && hinted === count);
        set(node, 'aria-disabled', legal.includes(count) ? null : 'true');
        node.onclick = () => on.take?.(count);
        node.onpointerenter = () => preview(count);
        node.onfocus = () => preview(count);
      });
  }

  /** Show what taking the newest `count` cards of the row would mean; 0 shows nothing. */
  function preview(/** @type {number} */ count) {
    const mayTake = view.you !== null && view.seat === view.you && view.phase === 'draw' && view.players[view.you].opened;
    const held = mayTake ? view.players[view.you].hand_size + count : 0;
    const ok = (view.legal ?? []).includes(count);
    [...row.children].forEach((node, i) => {
      const chosen = mayTake && count > 0 && i >= view.row.length - count;
      node.classList.toggle('chosen', chosen && ok);
      node.classList.toggle('too-many', chosen && !ok);
    });
    takeNote.hidden = !mayTake || count === 0;
    last.hidden = !takeNote.hidden;
    if (!takeNote.hidden) say(takeNote, ok ? t('take.note', { n: count, held }) : t('take.too-many', { n: count, held, limit: view.hand_limit }));
  }

  function redrawMelds() {
    drawMelds(melds, view, { fits, hinted, play: (action) => on.fit?.(action), leave: () => on.leaveArrows?.(), away: () => { if (!element.querySelector('.hand .card:focus')) api.showFits([]); } });
  }

  // Where things were before a change, and their flight to where they are after it

  function snapshot() {
    return {
      stock: stock.getBoundingClientRect(),
      row: [...row.children].map((node) => node.getBoundingClientRect()),
      laid: new Set([...row.children, ...melds.querySelectorAll('.card')]),
    };
  }

  /** Where a player's cards come from and go to. @param {number} seat */
  function placeOf(seat) {
    return element.querySelector(`.player[data-seat="${seat}"] .player-cards`)?.getBoundingClientRect() ?? own.getBoundingClientRect();
  }

  /** @param {ReturnType<typeof snapshot>} before @param {any} old @param {((card: number) => DOMRect|null)|undefined} from */
  function animate(before, old, from) {
    if (!view.last || view.state === 'waiting') return;
    const { seat, action } = view.last;
    const mine = seat === view.you;
    for (const node of [...row.children, ...melds.querySelectorAll('.card')]) {
      if (!before.laid.has(node) && node.closest('.melds')) node.scrollIntoView({ block: 'nearest' });
      if (!before.laid.has(node)) fly(node, (mine && from?.(Number(/** @type {HTMLElement} */ (node).dataset.card))) || placeOf(seat));
    }
    if (mine) return;
    const move = decode(action);
    if (move.kind === 'draw') ghost(null, before.stock, placeOf(seat));
    if (move.kind === 'take') {
      const first = old.row.length - (move.count ?? 0);
      before.row.slice(first).forEach((box, i) => ghost(old.row[first + i], box, placeOf(seat), i * 40));
    }
  }

  /** Where the new cards of the own hand came from, by card. @param {any} old the view before */
  function sources(old) {
    const boxes = snapshot();
    return (/** @type {number} */ card) => {
      const i = old?.row?.lastIndexOf(card) ?? -1;
      return view.last && decode(view.last.action).kind === 'take' && i >= 0 ? boxes.row[i] : boxes.stock;
    };
  }

  const api = {
    element, own, middle, draw, sources,
    /** Show arrows at these attaches and swaps. @param {number[]} actions */
    showFits(actions) {
      if (actions.join() === fits.join()) return;
      fits = actions;
      if (view) redrawMelds();
    },
    /** Mark what somebody would play. @param {number|null} action */
    hint(action) {
      hinted = action;
      if (!view) return;
      drawPiles();
      if (action !== null && action >= MELD && action < DISCARD) fits = [action];
      redrawMelds();
    },
    focusArrow() {
      const first = /** @type {HTMLElement|null} */ (element.querySelector('.fit-arrow'));
      first?.focus();
      return first !== null;
    },
    /** The fitting action at a point of the screen, of those whose arrows are shown. @param {number} x @param {number} y @returns {number|null} */
    fitAt(x, y) {
      const arrows = /** @type {HTMLElement[]} */ ([...element.querySelectorAll('.fit-arrow')]);
      const near = arrows.filter((arrow) => over(arrow, x, y, 10) || over(arrow.parentElement, x, y, 4));
      const distance = (/** @type {HTMLElement} */ arrow) => {
        const box = arrow.getBoundingClientRect();
        return Math.hypot(box.left + box.width / 2 - x, box.top + box.height / 2 - y);
      };
      near.sort((a, b) => distance(a) - distance(b));
      arrows.forEach((arrow) => arrow.classList.toggle('near', arrow === near[0]));
      return near.length > 0 ? Number(near[0].dataset.action) : null;
    },
    /** Bring melds into sight that are further up or down, while something is dragged at the edge. @param {number} y */
    scrollNear(y) {
      const box = middle.getBoundingClientRect();
      if (y > box.top - 10 && y < box.top + 36) middle.scrollTop -= 8;
      else if (y < box.bottom + 10 && y > box.bottom - 36) middle.scrollTop += 8;
    },
    overRow: (/** @type {number} */ x, /** @type {number} */ y) => over(piles, x, y, 8),
    overMiddle: (/** @type {number} */ x, /** @type {number} */ y) => over(middle, x, y),
    /** Light up the row while a card that may be thrown is over it. @param {boolean} lit */
    lightRow(lit) { piles.classList.toggle('drop', lit); },
    /** The card that an attach or a swap plays. @param {number} action */
    cardOf: (action) => atMeld(action, view)?.card ?? null,
  };  return api;
}
