// The words of the study: those of the page where they are merged in, else lang/en-study.json.

import { has, t } from './text.js';

/** @type {Record<string, string>} */
let own = {};

/** Load the study's own words, unless the page has them. */
export async function loadStudyTexts() {
  if (has('study.title') || own['study.title']) return;
  try {
    const answer = await fetch('/static/lang/en-study.json');
    if (answer.ok) own = await answer.json();
  } catch { /* the keys are shown then */ }
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
