// What parts of the study hand to each other: a position for the next page, copying one, and requests that keep large numbers.

import { button, dialog, el, toast } from './dom.js';
import { ApiError } from './net.js';
import { pretty } from './study-notation.js';
import { s } from './study-text.js';

const POSITION = 'jolly.study.position';

/** Keep a position for the page that sets positions up. @param {any} position */
export function keepPosition(position) {
  sessionStorage.setItem(POSITION, JSON.stringify(position));
}

/** Return the position that was kept, or null. @returns {any} */
export function keptPosition() {
  try {
    return JSON.parse(sessionStorage.getItem(POSITION) ?? 'null');
  } catch {
    return null;
  }
}

/** Copy a position; where the browser does not let us, show it selected. @param {any} position */
export async function copyPosition(position) {
  const text = pretty(position);
  try {
    await navigator.clipboard.writeText(text);
    toast(s('copied'));
  } catch {
    const area = el('textarea', { class: 'study-json', readonly: true, rows: 12, 'aria-label': s('copy') });
    area.value = text;
    dialog(s('copy'), (close) => [el('p', { text: s('copy-by-hand') }), area, el('div', { class: 'buttons' }, button(s('close'), close, { class: 'main' }))]);
    area.focus();
    area.select();
  }
}

/** Post a body that is JSON text already, so that numbers above 2^53 in it stay what they are. @param {string} path @param {string} body @returns {Promise<any>} */
export async function postText(path, body) {
  let answer;
  try {
    answer = await fetch(path, { method: 'POST', headers: { 'Content-Type': 'application/json' }, body });
  } catch {
    throw new ApiError(0, 'offline', s('offline'));
  }
  const data = await answer.json().catch(() => null);
  if (!answer.ok) throw new ApiError(answer.status, data?.code ?? 'http', data?.reason ?? answer.statusText);
  return data;
}

/** Say what the server found wrong: its own sentence where it names the place, as in a position. @param {any} error @param {(error: any) => string} failure */
export function why(error, failure) {
  return ['bad-position', 'bad-record', 'bad-input', 'illegal', 'no-round', 'too-large'].includes(error?.code) && error.message ? error.message : failure(error);
}
