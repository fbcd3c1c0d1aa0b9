// The words of the study (those of the page where they are merged in, else lang/en-study.json) and its sheet.

import { el } from './dom.js';
import { has, t } from './text.js';

/** @type {Record<string, string>} */
let own = {};

/** Load the study's own words, unless the page has them. */
async function loadStudyTexts() {
  if (has('study.title') || own['study.title']) return;
  try {
    const answer = await fetch('/static/lang/en-study.json');
    if (answer.ok) own = await answer.json();
  } catch { /* the keys are shown then */ }
}

/** Load the words and the sheet of the study, and wait for them, so that nothing jumps. Once is enough, but more often does no harm. */
export async function prepare() {
  const words = loadStudyTexts();
  if (!document.getElementById('study-sheet')) {
    const link = el('link', { id: 'study-sheet', rel: 'stylesheet', href: '/static/study.css' });
    const loaded = new Promise((done) => {
      link.addEventListener('load', done);
      link.addEventListener('error', done);
    });
    document.head.append(link);
    await loaded;
  }
  await words;
}

/**
 * Words of the study; as `t`, for the key "study.…".
 * @param {string} key @param {Record<string, string|number>} [values]
 */
export function s(key, values = {}) {
  const name = `study.${key}`;
  if (has(name) || has(`${name}.other`)) return t(name, values);
  const found = (typeof values.n === 'number' ? own[`${name}.${values.n === 1 ? 'one' : 'other'}`] : undefined) ?? own[name] ?? name;
  return found.replace(/\{(\w+)\}/g, (whole, word) => (word in values ? String(values[word]) : whole));
}
