// The keys that play without a mouse, and the dialog that tells of them.

import { button, dialog, el } from './dom.js';
import { t } from './text.js';

/**
 * Listen to single keys while nothing is typed; returns what ends it.
 * @param {Record<string, () => void>} keys @param {() => boolean} active
 */
export function shortcuts(keys, active) {
  const listen = (/** @type {KeyboardEvent} */ event) => {
    const target = /** @type {HTMLElement} */ (event.target);
    if (event.ctrlKey || event.metaKey || event.altKey || event.repeat) return;
    if (target.closest?.('input, textarea, select, dialog.box')) return;
    const run = keys[event.key.length === 1 ? event.key.toLowerCase() : event.key];
    if (!run || !(active() || event.key === '?')) return;
    event.preventDefault();
    run();
  };
  document.addEventListener('keydown', listen);
  return () => document.removeEventListener('keydown', listen);
}

/** Show the keys. */
export function showKeys() {
  const rows = [
    ['← →', 'keys.move'], ['Shift + ← →', 'keys.sort'], [t('keys.enter'), 'keys.discard'], ['↑', 'keys.attach'], ['D', 'keys.draw'], ['L', 'keys.lay'],
    ['S / R', 'keys.order'], ['A', 'keys.arrange'], ['H', 'keys.hint'], ['?', 'keys.keys'],
  ];
  dialog(t('keys.title'), (close) => [
    el('dl', { class: 'keys' }, ...rows.flatMap(([key, what]) => [el('dt', {}, el('kbd', { text: key })), el('dd', { text: t(what) })])),
    el('p', { text: t('keys.mouse') }),
    el('div', { class: 'buttons' }, button(t('close'), close, { class: 'main' })),
  ]);
}
