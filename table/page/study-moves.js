// The list of moves in notation: the one that is shown is marked, a click goes to another.

import { el, set } from './dom.js';
import { seatDot } from './players.js';
import { s } from './study-text.js';

/** What was played to get to a frame, in words for a deal. @param {import('./frames.js').Frame} frame @param {number} n */
export function moveText(frame, n) {
  return frame.text ?? s(n === 0 && (frame.view.turn > 0 || frame.view.phase !== 'draw') ? 'from-here' : 'dealt', { round: frame.view.round + 1 });
}

/** Make the list. @param {(n: number) => void} go */
export function makeMoves(go) {
  const list = el('ol', { class: 'moves', 'aria-label': s('moves') });
  const element = el('section', { class: 'study-moves' }, el('h2', { text: s('moves') }), list);
  list.addEventListener('click', (/** @type {MouseEvent} */ event) => {
    const item = /** @type {HTMLElement|null} */ (/** @type {HTMLElement} */ (event.target).closest('li[data-n]'));
    if (item) go(Number(item.dataset.n));
  });

  new ResizeObserver(() => reveal()).observe(list);

  /** @param {import('./frames.js').Frame} frame @param {number} n */
  function line(frame, n) {
    const kind = frame.text === null ? 'deal' : frame.text.startsWith('discard') ? 'turn-end' : null;
    const text = moveText(frame, n);
    const who = frame.seat === null ? null : frame.view.players[frame.seat].name;
    return el('li', { 'data-n': n, class: kind }, el('button', { type: 'button', tabindex: '-1', title: who, 'data-n': n, 'aria-label': who === null ? null : `${who}: ${text}` },
      frame.seat === null ? null : seatDot(frame.seat), el('span', { class: 'move-text', text })));
  }

  /** Mark a move or not. @param {number} n @param {boolean} on */
  function mark(n, on) {
    const item = /** @type {HTMLElement|undefined} */ (list.children[n]);
    const press = /** @type {HTMLElement|null|undefined} */ (item?.firstElementChild);
    if (!item || !press) return;
    item.classList.toggle('current', on);
    set(press, 'aria-current', on ? 'step' : null);
    set(press, 'tabindex', on ? '0' : '-1');
    if (!on) return;
    if (list.contains(document.activeElement)) press.focus({ preventScroll: true });
    reveal();
  }

  /** Bring the marked move into sight within the list, without moving the page. */
  function reveal() {
    const item = list.querySelector('.current');
    if (!item) return;
    const box = item.getBoundingClientRect(), within = list.getBoundingClientRect();
    if (box.top < within.top + 30 || box.bottom > within.bottom - 30) list.scrollTop += box.top - within.top - within.height / 2;
  }

  return {
    element, mark,
    /** @param {import('./frames.js').Frame[]} frames @param {number} first number of the first of them */
    add(frames, first) { list.append(...frames.map((frame, i) => line(frame, first + i))); },
    /** @param {number} count how many moves stay */
    cut(count) { while (list.childElementCount > count) list.lastElementChild?.remove(); },
  };
}
