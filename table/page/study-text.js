// The words of the study, and its sheet.

import { el } from './dom.js';
import { t } from './text.js';

/** Load the sheet of the study, and wait for it, so that nothing jumps. Once is enough, but more often does no harm. */
export async function prepare() {
  if (!document.getElementById('study-sheet')) {
    const link = el('link', { id: 'study-sheet', rel: 'stylesheet', href: '/static/study.css' });
    const loaded = new Promise((done) => {
      link.addEventListener('load', done);
      link.addEventListener('error', done);
    });
    document.head.append(link);
    await loaded;
  }
}

/**
 * Words of the study; as `t`, for the key "study.…".
 * @param {string} key @param {Record<string, string|number>} [values]
 */
export function s(key, values = {}) {
  return t(`study.${key}`, values);
}
