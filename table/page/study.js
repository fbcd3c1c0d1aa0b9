// The study: watch agents play, open records, set positions up, and see what agents think. Which of these, the address tells.

import { el, set } from './dom.js';
import { openPosition } from './study-position.js';
import { openRecord } from './study-record.js';
import { prepare, s } from './study-text.js';
import { openHome, openWatch } from './study-watch.js';

const TABS = /** @type {const} */ ([['', 'tab.watch'], ['record', 'tab.record'], ['position', 'tab.position']]);

/**
 * Open the study in an element; returns what closes it.
 * @param {HTMLElement} root @param {string|string[]} [rest] what follows #/study/ in the address
 * @returns {Promise<() => void>}
 */
export async function open(root, rest = '') {
  const [kind = '', id = ''] = (Array.isArray(rest) ? rest.join('/') : rest).replace(/^\/+/, '').split('/');
  await prepare();
  const tabs = el('nav', { class: 'study-tabs', 'aria-label': s('tabs') }, ...TABS.map(([path, key]) => {
    const tab = el('a', { href: path ? `#/study/${path}` : '#/study', text: s(key) });
    if (path === (kind === 'table' ? '' : kind)) set(tab, 'aria-current', 'page');
    return tab;
  }));
  const place = el('div', { class: 'study-place' });
  root.append(el('div', { class: 'study' }, tabs, place));
  document.title = `${s('title')} · Jolly`;
  if (kind === 'table' && id) return openWatch(place, decodeURIComponent(id));
  if (kind === 'record') return openRecord(place);
  if (kind === 'position') return openPosition(place);
  return openHome(place);
}
