// The page as a whole: header with language and colours, and which view the address asks for.

import { button, el, set, toast } from './dom.js';
import { openLobby } from './lobby.js';
import { api } from './net.js';
import { failure } from './people.js';
import { known, openTable } from './table.js';
import { LANGUAGES, chooseLanguage, currentLanguage, loadTexts, t } from './text.js';

const THEME = 'jolly.theme';
const root = /** @type {HTMLElement} */ (document.getElementById('app'));
const header = /** @type {HTMLElement} */ (document.getElementById('header'));
/** @type {(() => void)|null} */
let close = null;
let visit = 0;

/** Show the view of the address. */
async function route() {
  visit += 1;
  const here = visit;
  close?.();
  close = null;
  for (const box of document.querySelectorAll('dialog.box')) box.remove();
  const [path, query = ''] = location.hash.replace(/^#\/?/, '').split('?');
  const [kind, ...rest] = path.split('/');
  const view = kind === 'table' && rest[0] ? 'table' : kind === 'study' ? 'study' : kind === 'play' && rest[0] ? 'play' : 'lobby';
  document.body.dataset.view = view;
  root.replaceChildren();
  document.title = t('title');
  try {
    const closing = await open(view, rest, query);
    if (here === visit) close = closing;
    else closing?.();
  } catch (error) {
    if (here === visit) toast(failure(error), 'bad');
  }
}

/**
 * @param {string} view @param {string[]} rest @param {string} query
 * @returns {Promise<(() => void)|null>}
 */
async function open(view, rest, query) {
  const place = el('div', { class: 'view' });
  root.append(place);
  if (view === 'play') {
    await known();
    const made = await api('POST', '/api/tables', { seats: ['person', decodeURIComponent(rest.join('/'))] });
    location.replace(`#/table/${made.table}`);
    return null;
  }
  if (view === 'table') {
    await known();
    return openTable(place, rest[0], new URLSearchParams(query).get('invite'));
  }
  if (view === 'study') {
    // @ts-ignore a module of its own, loaded only when it is wanted
    const study = await import('./study.js');
    return (await study.open(place, rest.join('/'))) ?? null;
  }
  return openLobby(place);
}

function drawHeader() {
  const languages = el('select', { id: 'language', 'aria-label': t('header.language') },
    ...Object.entries(LANGUAGES).map(([code, name]) => el('option', { value: code, text: name, lang: code })));
  languages.value = currentLanguage();
  languages.addEventListener('change', async () => {
    await chooseLanguage(languages.value);
    drawHeader();
    route();
  });
  const theme = button('', () => {
    const next = { auto: 'light', light: 'dark', dark: 'auto' }[localStorage.getItem(THEME) ?? 'auto'] ?? 'auto';
    localStorage.setItem(THEME, next);
    useTheme(theme);
  }, { id: 'theme' });
  header.replaceChildren(el('a', { class: 'home', href: '#/', 'aria-label': t('header.home') }, el('span', { class: 'star', 'aria-hidden': 'true', text: '★' }), el('span', { text: t('title') })),
    el('nav', { 'aria-label': t('header.pages') }, el('a', { href: '#/study', text: t('header.study') })), languages, theme);
  useTheme(theme);
}

/** @param {HTMLElement} [theme] */
function useTheme(theme) {
  const chosen = localStorage.getItem(THEME) ?? 'auto';
  set(document.documentElement, 'data-theme', chosen);
  if (!theme) return;
  theme.textContent = { auto: '◐', light: '☀', dark: '☾' }[chosen] ?? '◐';
  set(theme, 'aria-label', t('header.theme', { theme: t(`theme.${chosen}`) }));
  set(theme, 'title', t('header.theme', { theme: t(`theme.${chosen}`) }));
}

useTheme();
await loadTexts();
drawHeader();
addEventListener('hashchange', route);
route();
