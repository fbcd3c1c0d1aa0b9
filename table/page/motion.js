// Movement: cards fly from where they were to where they are, unless less motion is wanted.

import { cardSvg } from './cards.js';
import { el } from './dom.js';

const calm = matchMedia('(prefers-reduced-motion: reduce)');
export const EASE = 'cubic-bezier(.2,.7,.2,1)';

/** Whether to move things at all. */
export function moving() {
  return !calm.matches && !document.hidden;
}

/** Let an element come from a place on the screen. @param {Element} node @param {DOMRect|null|undefined} from */
export function fly(node, from, { delay = 0, duration = 380 } = {}) {
  if (!from || !moving()) return;
  const to = node.getBoundingClientRect();
  if (to.width === 0) return;
  const dx = from.left + from.width / 2 - to.left - to.width / 2;
  const dy = from.top + from.height / 2 - to.top - to.height / 2;
  if (Math.hypot(dx, dy) < 2) return;
  const scale = Math.max(0.3, Math.min(2, from.width / to.width || 1));
  const lift = /** @type {HTMLElement} */ (node);
  lift.animate(
    [{ translate: `${dx}px ${dy}px`, scale: String(scale), zIndex: 50 }, { translate: '0 0', scale: '1', zIndex: 50 }],
    { duration, delay, easing: EASE, fill: 'backwards' },
  );
}

/** Let a card that is nobody's element fly over the table. @param {number|null} card @param {DOMRect} from @param {DOMRect} to */
export function ghost(card, from, to, delay = 0) {
  if (!moving() || from.width === 0 || to.width === 0) return;
  const node = el('div', { class: 'ghost', 'aria-hidden': 'true' }, cardSvg(card));
  node.style.left = `${from.left}px`;
  node.style.top = `${from.top}px`;
  node.style.width = `${Math.min(from.width, 70)}px`;
  document.body.append(node);
  const scale = Math.min(1, to.width / from.width) * 0.8;
  const dx = to.left + to.width / 2 - from.left - from.width / 2;
  const dy = to.top + to.height / 2 - from.top - from.height / 2;
  const flight = node.animate(
    [{ translate: '0 0', scale: '1' }, { translate: `${dx}px ${dy}px`, scale: String(scale), opacity: 0.9 }],
    { duration: 420, delay, easing: EASE, fill: 'both' },
  );
  flight.onfinish = () => node.remove();
  flight.oncancel = () => node.remove();
}
