// Dragging with mouse, pen or finger: tells when an element is picked up, moved and let go; a short press stays a click.

const FAR_ENOUGH = 6;

/**
 * Make an element draggable.
 * @param {HTMLElement} node
 * @param {{start: () => boolean, move: (x: number, y: number, dx: number, dy: number) => void, end: (x: number, y: number) => void, cancel: () => void}} on
 */
export function draggable(node, on) {
  let pointer = -1, x0 = 0, y0 = 0, dragging = false;

  // While a card is dragged, the window listens: the element may be moved in the document, and would then hear no more.
  const stop = () => {
    pointer = -1;
    dragging = false;
    window.removeEventListener('pointermove', move);
    window.removeEventListener('pointerup', up);
    window.removeEventListener('pointercancel', gone);
    window.removeEventListener('keydown', escape, true);
  };
  const escape = (/** @type {KeyboardEvent} */ event) => {
    if (event.key !== 'Escape' || !dragging) return;
    event.stopPropagation();
    stop();
    on.cancel();
  };
  const move = (/** @type {PointerEvent} */ event) => {
    if (event.pointerId !== pointer) return;
    const dx = event.clientX - x0, dy = event.clientY - y0;
    if (!dragging) {
      if (Math.hypot(dx, dy) < FAR_ENOUGH) return;
      if (!on.start()) {
        stop();
        return;
      }
      dragging = true;
    }
    on.move(event.clientX, event.clientY, dx, dy);
  };
  const up = (/** @type {PointerEvent} */ event) => {
    if (event.pointerId !== pointer) return;
    const was = dragging;
    stop();
    if (!was) return;
    // The click that the browser sends after a drag is no click.
    const swallow = (/** @type {Event} */ click) => { click.stopPropagation(); click.preventDefault(); };
    window.addEventListener('click', swallow, { capture: true, once: true });
    setTimeout(() => window.removeEventListener('click', swallow, { capture: true }), 0);
    on.end(event.clientX, event.clientY);
  };
  const gone = (/** @type {PointerEvent} */ event) => {
    if (event.pointerId !== pointer) return;
    const was = dragging;
    stop();
    if (was) on.cancel();
  };

  node.addEventListener('pointerdown', (event) => {
    if (event.button !== 0 || pointer >= 0) return;
    pointer = event.pointerId;
    x0 = event.clientX;
    y0 = event.clientY;
    window.addEventListener('pointermove', move);
    window.addEventListener('pointerup', up);
    window.addEventListener('pointercancel', gone);
    window.addEventListener('keydown', escape, true);
  });
  node.addEventListener('dragstart', (event) => event.preventDefault());
}

/** Whether a point lies in an element, or at most `near` pixels beside it. @param {Element|null} node @param {number} x @param {number} y */
export function over(node, x, y, near = 0) {
  if (!node) return false;
  const box = node.getBoundingClientRect();
  return box.width > 0 && x >= box.left - near && x <= box.right + near && y >= box.top - near && y <= box.bottom + near;
}
