// Where one comes in: a new game, tables to join, to watch and to come back to, and one's name.

import { makeSetup } from './setup.js';
import { button, el, sync, toast } from './dom.js';
import { api } from './net.js';
import { failure, me, rename } from './people.js';
import { minus, t } from './text.js';

/** Open the lobby in an element; returns what closes it. @param {HTMLElement} root */
export async function openLobby(root) {
  let open = true;
  const who = el('div', { class: 'who' });
  const mine = tableList('lobby.mine'), join = tableList('lobby.join'), watch = tableList('lobby.watch');
  const link = el('input', { id: 'table-link', placeholder: t('lobby.link-example'), 'aria-label': t('lobby.link') });
  const go = el('form', { class: 'line' }, link, el('button', { type: 'submit', text: t('lobby.go') }));
  go.addEventListener('submit', (/** @type {Event} */ event) => {
    event.preventDefault();
    const found = /([\w-]{6,})(\?invite=[^\s&]+)?\s*$/.exec(link.value.trim());
    if (found) location.hash = `#/table/${found[1]}${found[2] ?? ''}`;
    else toast(t('lobby.no-link'));
  });
  const setup = makeSetup();
  root.append(el('div', { class: 'lobby' },
    el('div', { class: 'column' }, who, mine.element, setup.element),
    el('div', { class: 'column' }, join.element, watch.element, el('section', { class: 'panel' }, el('h2', { text: t('lobby.link') }), go),
      el('section', { class: 'panel' }, el('h2', { text: t('lobby.study') }), el('p', { text: t('lobby.study-about') }), el('p', {}, el('a', { class: 'button', href: '#/study', text: t('lobby.study-open') }))))));

  async function showMe() {
    const person = await me();
    who.replaceChildren(el('p', {}, el('strong', { class: 'my-name', text: person.name }), ' ', el('span', { class: 'dim', text: t('lobby.rating', { rating: Math.round(person.rating), games: person.games, won: person.won }) })),
      button(t('lobby.rename'), () => rename(person, showMe), { id: 'rename' }));
  }

  async function renew() {
    if (!open || document.hidden) return;
    try {
      const tables = await api('GET', '/api/tables');
      const own = tables.filter((/** @type {any} */ table) => table.yours);
      const rest = tables.filter((/** @type {any} */ table) => !table.yours);
      mine.draw(own.filter((/** @type {any} */ table) => table.seat !== null || table.state === 'waiting' || table.watch), 'open', 'lobby.back');
      join.draw(rest.filter((/** @type {any} */ table) => table.state === 'waiting' && table.free > 0), 'join', 'lobby.sit');
      watch.draw(rest.filter((/** @type {any} */ table) => table.state !== 'waiting'), 'watch-table', 'lobby.look');
    } catch (error) {
      toast(failure(error), 'bad');
    }
  }

  try {
    await showMe();
    await setup.load();
    await renew();
  } catch (error) {
    toast(failure(error), 'bad');
  }
  const timer = setInterval(renew, 4000);
  return () => {
    open = false;
    clearInterval(timer);
  };
}

/** A list of tables under a heading. @param {string} key */
function tableList(key) {
  const list = el('ul', { class: 'tables' });
  const none = el('p', { class: 'dim', text: t(`${key}-none`) });
  const element = el('section', { class: 'panel' }, el('h2', { text: t(key) }), none, list);
  /** @param {any[]} tables @param {string} kind @param {string} label */
  function draw(tables, kind, label) {
    none.hidden = tables.length > 0;
    element.hidden = key === 'lobby.mine' && tables.length === 0;
    sync(list, tables, (table) => `${table.table} ${JSON.stringify([table.state, table.totals, table.players])}`, (table) => el('li', {},
      el('span', { class: 'table-line' }, el('strong', { text: table.players.map((/** @type {any} */ player) => (player.kind === 'free' ? t('seat.free') : player.name)).join(' – ') }),
        el('span', { class: 'dim', text: describe(table) })),
      button(t(label), () => enter(table, kind === 'join'), { class: kind })));
  }
  return { element, draw };
}

/** @param {any} table */
function describe(table) {
  const parts = [t(`state.${table.state.replace(' ', '-')}`), table.target === null ? t('target.none') : t('target.is', { n: table.target })];
  if (table.seconds) parts.push(t('time.each', { n: table.seconds }));
  if (table.state !== 'waiting') parts.push(table.totals.map(minus).join(' : '));
  return parts.join(' · ');
}

/** @param {any} table @param {boolean} sit */
async function enter(table, sit) {
  if (sit) {
    try {
      await api('POST', `/api/tables/${table.table}/join`, { invite: null });
    } catch (error) {
      toast(failure(error), 'bad');
      return;
    }
  }
  location.hash = `#/table/${table.table}${table.invite ? `?invite=${encodeURIComponent(table.invite)}` : ''}`;
}
