// Small helpers to make and renew elements; all text goes in as text, never as markup.

/**
 * Make an element. `props`: `class`, `text`, `on` ({event: listener}), `hidden`/`disabled`/... (true or false), else attributes.
 * @param {string} tag @param {Record<string, any>} [props] @param {...(Node|string|null|undefined|false)} children
 * @returns {any}
 */
export function el(tag, props = {}, ...children) {
  const node = document.createElement(tag);
  for (const [name, value] of Object.entries(props)) {
    if (value === undefined || value === null) continue;
    if (name === 'class') node.className = value;
    else if (name === 'text') node.textContent = value;
    else if (name === 'on') for (const [event, listener] of Object.entries(value)) node.addEventListener(event, listener);
    else if (typeof value === 'boolean') node.toggleAttribute(name, value);
    else node.setAttribute(name, String(value));
  }
  node.append(...children.filter((child) => child !== null && child !== undefined && child !== false));
  return node;
}

/** A button. @param {string} text @param {() => void} click @param {Record<string, any>} [props] */
export function button(text, click, props = {}) {
  return el('button', { type: 'button', text, ...props, on: { click, ...(props.on ?? {}) } });
}

/** Set an attribute only where it changes, so that nothing is read out or drawn again for nothing. */
export function set(node, name, value) {
  const text = value === true ? '' : value;
  if (text === null || text === undefined || text === false) {
    if (node.hasAttribute(name)) node.removeAttribute(name);
  } else if (node.getAttribute(name) !== String(text)) node.setAttribute(name, String(text));
}

/** Set the text of an element where it changes. */
export function say(node, text) {
  if (node.textContent !== text) node.textContent = text;
}

/**
 * Let the children of `parent` be one element for each item, in order; elements are kept by key, and so keep the focus.
 * @template T
 * @param {HTMLElement} parent @param {T[]} items @param {(item: T, i: number) => string} keyOf
 * @param {(item: T, i: number) => HTMLElement} make @param {(node: HTMLElement, item: T, i: number) => void} [renew]
 */
export function sync(parent, items, keyOf, make, renew) {
  /** @type {Map<string, HTMLElement>} */
  const known = new Map();
  for (const node of /** @type {any} */ (parent.children)) if (node._key !== undefined) known.set(node._key, node);
  const focused = document.activeElement;
  let before = parent.firstElementChild;
  items.forEach((item, i) => {
    const key = keyOf(item, i);
    let node = /** @type {any} */ (known.get(key));
    known.delete(key);
    if (node === undefined) {
      node = make(item, i);
      node._key = key;
    }
    if (renew) renew(node, item, i);
    if (node === before) before = before.nextElementSibling;
    else parent.insertBefore(node, before);
  });
  for (const node of known.values()) node.remove();
  if (focused instanceof HTMLElement && focused !== document.activeElement && parent.contains(focused)) {
    focused.focus({ preventScroll: true });
  }
}

/** Tell people who listen to the page rather than look at it. @param {string} text */
export function announce(text) {
  const live = document.getElementById('announce');
  if (live) live.append(el('p', { text }));
  while (live && live.childElementCount > 8) live.firstElementChild?.remove();
}

/** Show a short message for a few seconds. @param {string} text @param {string} [kind] */
export function toast(text, kind = '') {
  const box = document.getElementById('toasts');
  if (!box) return;
  for (const old of box.children) if (old.textContent === text) old.remove();
  const node = el('div', { class: `toast ${kind}`, role: 'status', text });
  box.append(node);
  setTimeout(() => node.remove(), 5000);
}

/**
 * Show a modal dialog, which Escape closes; returns it.
 * @param {string} title @param {(close: () => void) => (Node|string)[]} fill
 */
export function dialog(title, fill, { closable = true } = {}) {
  const box = el('dialog', { class: 'box', 'aria-label': title });
  const close = () => { box.close(); box.remove(); };
  box.append(el('h2', { text: title }), ...fill(close));
  if (!closable) box.addEventListener('cancel', (/** @type {Event} */ event) => event.preventDefault());
  box.addEventListener('close', () => box.remove());
  document.body.append(box);
  box.showModal();
  return box;
}
