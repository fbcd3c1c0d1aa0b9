// The melds on the table: their cards with what jokers stand for, and the green arrows where a card fits.

import { atMeld, meldName, setMissing, words } from './actions.js';
import { JOKER, cardName, cardSvg } from './cards.js';
import { el, set, sync } from './dom.js';

/**
 * Draw the melds of a view.
 * @param {HTMLElement} box @param {any} view
 * @param {{fits: number[], hinted: number|null, play: (action: number) => void, leave: () => void, away: () => void}} how
 */
export function drawMelds(box, view, how) {
  sync(box, view.melds ?? [], (/** @type {any} */ _, i) => `${view.round}-${i}`,
    () => el('div', { class: 'meld', role: 'group' }, el('div', { class: 'meld-cards' })),
    (node, meld, i) => {
      set(node, 'data-meld', i);
      set(node, 'aria-label', meldName(meld));
      node.classList.toggle('fresh', meld.fresh);
      const missing = setMissing(meld);
      sync(/** @type {HTMLElement} */ (node.firstElementChild), meld.cards, (/** @type {number[]} */ slot) => slotKey(slot, meld, missing),
        (/** @type {any} */ slot) => laidCard(slot[0], slot[0] === JOKER && slot[1] === JOKER ? missing : slot[1], meld.set ? meld.base : null, slot[2]));
      drawArrows(node, view, how.fits.filter((action) => atMeld(action, view)?.meld === i), how);
    });
}

/** A run's card is known by its place, a set's by its suit, so that only what changes is new. */
function slotKey(/** @type {number[]} */ slot, /** @type {any} */ meld, /** @type {number|null} */ missing) {
  return `${slot[0]}-${slot[0] === JOKER && meld.set ? missing : slot[1]}-${slot[2]}`;
}

/** A card that lies on the table. */
export function laidCard(/** @type {number} */ card, /** @type {number|null} */ stands, /** @type {number|null} */ rank, /** @type {number|null} */ seat) {
  const name = cardName(card, stands, rank);
  return el('div', { class: 'card', 'data-card': card, title: name, role: 'img', 'aria-label': name }, cardSvg(card, { stands, rank, seat }));
}

/** @param {HTMLElement} node @param {any} view @param {number[]} actions @param {Parameters<typeof drawMelds>[2]} how */
function drawArrows(node, view, actions, how) {
  for (const old of node.querySelectorAll('.fit-arrow')) if (!actions.includes(Number(/** @type {HTMLElement} */ (old).dataset.action))) old.remove();
  for (const action of actions) {
    const spot = atMeld(action, view);
    if (!spot) continue;
    let arrow = /** @type {any} */ (node.querySelector(`.fit-arrow[data-action="${action}"]`));
    if (!arrow) {
      arrow = el('button', { type: 'button', class: `fit-arrow at-${spot.at}`, 'data-action': action, tabindex: '-1' }, arrowPicture(spot.at));
      arrow.addEventListener('click', () => how.play(action));
      arrow.addEventListener('blur', (/** @type {FocusEvent} */ event) => { if (event.relatedTarget && !(/** @type {HTMLElement} */ (event.relatedTarget)).classList.contains('fit-arrow')) how.away(); });
      arrow.addEventListener('keydown', (/** @type {KeyboardEvent} */ event) => keyed(event, arrow, how.leave));
      node.append(arrow);
    }
    const label = words(action, view);
    set(arrow, 'aria-label', label);
    set(arrow, 'title', label);
    arrow.classList.toggle('hinted', how.hinted === action);
    if (spot.at === 'joker') {
      const card = /** @type {HTMLElement} */ (node.firstElementChild?.children[spot.index]);
      if (card) arrow.style.left = `${card.offsetLeft + card.offsetWidth / 2}px`;
    }
  }
}

/** An arrow that points to where the card would go. */
function arrowPicture(/** @type {string} */ at) {
  const picture = document.createElementNS('http://www.w3.org/2000/svg', 'svg');
  const line = document.createElementNS('http://www.w3.org/2000/svg', 'path');
  picture.setAttribute('viewBox', '0 0 24 24');
  picture.setAttribute('aria-hidden', 'true');
  line.setAttribute('d', at === 'joker' ? 'M12 2v12M5 10l7 8 7-8M5 21h14' : at === 'low' ? 'M2 12h15M11 4l8 8-8 8' : 'M22 12H7M13 4l-8 8 8 8');
  picture.append(line);
  return picture;
}

/** Left and right go to the other arrows; Escape goes back to the hand. */
function keyed(/** @type {KeyboardEvent} */ event, /** @type {HTMLElement} */ arrow, /** @type {() => void} */ leave) {
  const all = [.../** @type {NodeListOf<HTMLElement>} */ (document.querySelectorAll('.fit-arrow'))];
  const step = event.key === 'ArrowRight' ? 1 : event.key === 'ArrowLeft' ? -1 : 0;
  if (step) all[(all.indexOf(arrow) + step + all.length) % all.length].focus();
  else if (event.key === 'Escape' || event.key === 'ArrowDown') leave();
  else return;
  event.preventDefault();
}
