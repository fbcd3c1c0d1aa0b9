// Watching agents: a form for a table of agents alone, and such a table (or a finished one) as frames while it is played.

import { el, toast } from './dom.js';
import { makeFrames } from './frames.js';
import { api, connect } from './net.js';
import { failure } from './people.js';
import { agentChoices, room } from './study-parts.js';
import { why } from './study-share.js';
import { s } from './study-text.js';
import { known } from './table.js';
import { makeThinking } from './thinking.js';
import { minus, t } from './text.js';

/** Milliseconds between two questions for new frames, and most frames in an answer. */
const PAUSE = 400, MANY = 400;

/** Show what one can do here: start a table of agents, look at one, open a record, set a position up. @param {HTMLElement} root */
export async function openHome(root) {
  let open = true;
  const choices = agentChoices(4, 2);
  const target = el('select', { id: 'watch-target' }, ...['', '100', '250', '500'].map((value) => el('option', { value, text: value ? t('target.is', { n: value }) : t('target.none') })));
  const form = el('form', { class: 'study-form', id: 'watch-form' }, el('div', { class: 'study-fields' }, ...choices.fields), el('div', { class: 'study-fields' }, el('div', { class: 'study-field' }, el('label', { for: 'watch-target', text: s('watch.target') }), target)),
    el('button', { type: 'submit', id: 'watch-create', class: 'main', text: s('watch.create') }));
  const list = el('ul', { class: 'tables' });
  const none = el('p', { class: 'dim', text: s('watch.none') });
  root.append(el('div', { class: 'study-home' },
    el('section', { class: 'panel' }, el('h2', { text: s('watch.title') }), el('p', { class: 'dim', text: s('watch.about') }), form),
    el('div', { class: 'column' }, el('section', { class: 'panel' }, el('h2', { text: s('watch.tables') }), none, list),
      el('section', { class: 'panel' }, el('h2', { text: s('record.title') }), el('p', { class: 'dim', text: s('record.about') }), el('p', {}, el('a', { class: 'button', href: '#/study/record', text: s('record.title') }))),
      el('section', { class: 'panel' }, el('h2', { text: s('position.title') }), el('p', { class: 'dim', text: s('position.about') }), el('p', {}, el('a', { class: 'button', href: '#/study/position', text: s('position.title') }))))));
  form.addEventListener('submit', async (/** @type {Event} */ event) => {
    event.preventDefault();
    try {
      await known();
      const table = await api('POST', '/api/tables', { seats: choices.seats(), sit: false, target: target.value ? Number(target.value) : null });
      location.hash = `#/study/table/${table.table}`;
    } catch (error) {
      toast(failure(error), 'bad');
    }
  });
  async function renew() {
    if (!open || document.hidden) return;
    try {
      const tables = (await api('GET', '/api/tables')).filter((/** @type {any} */ table) => table.watch);
      none.hidden = tables.length > 0;
      list.replaceChildren(...tables.map((/** @type {any} */ table) => el('li', {}, el('span', { class: 'table-line' }, el('strong', { text: table.players.map((/** @type {any} */ player) => player.name).join(' – ') }),
        el('span', { class: 'dim', text: `${t(`state.${table.state.replace(' ', '-')}`)} · ${table.totals.map(minus).join(' : ')}` })), el('a', { class: 'button', href: `#/study/table/${table.table}`, text: s('watch.look') }))));
    } catch { /* the next time, perhaps */ }
  }
  await choices.load().catch((error) => toast(failure(error), 'bad'));
  await renew();
  const timer = setInterval(renew, 4000);
  return () => {
    open = false;
    clearInterval(timer);
  };
}

/** Show a table as frames. @param {HTMLElement} root @param {string} id */
export function openWatch(root, id) {
  const thinking = makeThinking();
  const film = makeFrames({ name: id, shown: (frame, next) => thinking.show(frame, next) });
  const note = el('p', { class: 'study-note', role: 'status', text: s('watch.loading') });
  const place = room(film, thinking);
  place.hidden = true;
  const home = el('p', { hidden: true }, el('a', { href: '#/study', text: s('back') }));
  root.append(note, home, place);
  let last = -1, busy = false, again = false, closed = false, over = false, first = true;
  /** @type {any} */
  let timer = 0;
  const line = connect(id, {
    view(view) {
      over = view.state === 'finished';
      if (!view.watch) ended(s('watch.hidden'));
      else more();
    },
    lost() { tell(t('net.lost')); }, back() { tell(''); },
    ended(end) { ended(end.code === 4404 ? t('refused.no-table') : t('net.not-allowed', { reason: end.reason })); },
  });

  /** Get what was played since; a table that goes on says so by a view. */
  async function more() {
    if (closed) return;
    again = true;
    if (busy) return;
    busy = true;
    try {
      while (again && !closed) {
        again = false;
        const wasOver = over;
        const { frames } = await api('GET', `/api/tables/${encodeURIComponent(id)}/frames?after=${last}`);
        if (closed) return;
        if (frames.length) last = frames[frames.length - 1].n;
        if (frames.length) place.hidden = false;
        film.add(frames);
        film.setLive(!wasOver || frames.length === MANY);
        if (frames.length) tell('');
        if (first && frames.length) {
          first = false;
          if (!wasOver) film.start();
        }
        if (frames.length === MANY || (over && !wasOver)) again = true;
        else await new Promise((go) => { timer = setTimeout(go, PAUSE); });
      }
    } catch (error) {
      if (!closed) tell(why(error, failure));
    }
    busy = false;
  }

  /** @param {string} text */
  function tell(text) {
    note.textContent = text;
    note.hidden = text === '';
  }

  /** @param {string} text */
  function ended(text) {
    tell(text);
    home.hidden = false;
    film.setLive(false);
    line.close();
  }

  return () => {
    closed = true;
    clearTimeout(timer);
    line.close();
    film.close();
    thinking.close();
  };
}
