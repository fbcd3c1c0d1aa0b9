// The words of the page in the language that was chosen; English where a translation lacks something.

/** @type {Record<string, string>} Languages by code, each in its own words. */
export const LANGUAGES = {
  en: 'English', de: 'Deutsch', el: 'Ελληνικά', nl: 'Nederlands', pl: 'Polski', pt: 'Português',
};
const KEPT = 'jolly.language';
/** @type {Record<string, string>} */
let english = {};
/** @type {Record<string, string>} */
let words = {};
let language = 'en';
let plural = new Intl.PluralRules('en');

/** The language in use. */
export function currentLanguage() {
  return language;
}

/** Load the words: English, and the language that was chosen or that the browser asks for. */
export async function loadTexts() {
  const asked = [localStorage.getItem(KEPT), ...navigator.languages, navigator.language];
  const found = asked.map((code) => (code ?? '').slice(0, 2)).find((code) => code in LANGUAGES) ?? 'en';
  english = await read('en');
  await use(found);
}

/** Change the language and keep the choice. @param {string} code */
export async function chooseLanguage(code) {
  localStorage.setItem(KEPT, code);
  await use(code);
}

/** @param {string} code */
async function use(code) {
  words = code === 'en' ? english : await read(code);
  language = code;
  plural = new Intl.PluralRules(code === 'pt' ? 'pt-PT' : code);
  document.documentElement.lang = code;
}

/** @param {string} code @returns {Promise<Record<string, string>>} */
async function read(code) {
  try {
    const answer = await fetch(`/static/lang/${code}.json`);
    return answer.ok ? await answer.json() : {};
  } catch {
    return {};
  }
}

/** Tell whether there are words for a key. @param {string} key */
export function has(key) {
  return key in words || key in english;
}

/**
 * Return the words for a key, with {placeholders} filled in. Where `n` is given, "key.one", "key.few" ... "key.other" are tried first.
 * @param {string} key @param {Record<string, string|number>} [values]
 */
export function t(key, values = {}) {
  const form = typeof values.n === 'number' ? `${key}.${plural.select(values.n)}` : key;
  const found = words[form] ?? words[`${key}.other`] ?? words[key]
    ?? english[typeof values.n === 'number' && values.n === 1 ? `${key}.one` : `${key}.other`] ?? english[key] ?? key;
  return found.replace(/\{(\w+)\}/g, (whole, name) => (name in values ? String(values[name]) : whole));
}

/** A number with a real minus. @param {number} n */
export const minus = (n) => (n < 0 ? `−${-n}` : String(n));

/** A number with its sign. @param {number} n */
export const signed = (n) => (n > 0 ? `+${n}` : n < 0 ? `−${-n}` : '0');
