// Who one is: the name that is asked for at the first visit, and what is known of players.

import { ApiError, api, keepToken, token } from './net.js';
import { dialog, el, toast } from './dom.js';
import { has, t } from './text.js';

/** @typedef {{player: string, name: string, rating: number, games: number, won: number}} Person */

/** Return who one is; asks for a name at the first visit. @returns {Promise<Person>} */
export async function me() {
  if (token()) {
    try {
      return await api('GET', '/api/me');
    } catch (error) {
      if (!(error instanceof ApiError) || error.code !== 'not-known') throw error;
      keepToken(null);
    }
  }
  await askName(t('name.default'), false, async (name) => {
    const made = await api('POST', '/api/players', { name });
    keepToken(made.token);
  });
  return api('GET', '/api/me');
}

/** Let the name be changed. @param {Person} person @param {() => void} changed */
export function rename(person, changed) {
  askName(person.name, true, (name) => api('PATCH', '/api/me', { name })).then((done) => done && changed());
}

/**
 * Ask for a name until it is taken.
 * @param {string} offered @param {boolean} closable @param {(name: string) => Promise<any>} keep @returns {Promise<boolean>}
 */
function askName(offered, closable, keep) {
  return new Promise((resolve) => {
    const input = el('input', { id: 'name', maxlength: 24, value: offered, autocomplete: 'nickname', required: true });
    const wrong = el('p', { class: 'wrong', role: 'alert' });
    let done = false;
    const box = dialog(t('name.title'), (close) => {
      const form = el('form', {}, el('p', { text: t('name.about') }), el('label', { for: 'name', text: t('name.label') }), input, wrong,
        el('div', { class: 'buttons' }, el('button', { type: 'submit', class: 'main', text: t('name.ok') }), closable && el('button', { type: 'button', text: t('cancel'), on: { click: close } })));
      form.addEventListener('submit', async (/** @type {Event} */ event) => {
        event.preventDefault();
        try {
          await keep(input.value.trim());
          done = true;
          close();
        } catch (error) {
          wrong.textContent = failure(error);
        }
      });
      return [form];
    }, { closable });
    box.addEventListener('close', () => resolve(done));
    input.select();
  });
}

/** Show what is known of a player. @param {string} player @param {string} name */
export async function showPlayer(player, name) {
  try {
    const about = await api('GET', `/api/players/${encodeURIComponent(player)}`);
    dialog(about.name ?? name, (close) => [
      el('dl', { class: 'about' }, el('dt', { text: t('info.rating') }), el('dd', { text: String(Math.round(about.rating)) }), el('dt', { text: t('info.games') }), el('dd', { text: String(about.games) }),
        el('dt', { text: t('info.won') }), el('dd', { text: String(about.won) })),
      player.startsWith('agent:') ? el('p', { text: aboutAgent(player.slice(6), t('info.agent')) }) : '',
      el('div', { class: 'buttons' }, el('button', { type: 'button', class: 'main', text: t('close'), on: { click: close } })),
    ]);
  } catch (error) {
    toast(failure(error), 'bad');
  }
}

/** Describe an agent in the language of the page where it is known there. @param {string} name @param {string} otherwise */
export function aboutAgent(name, otherwise) {
  return has(`agent.${name}`) ? t(`agent.${name}`) : otherwise;
}

/** Say why something did not work. @param {any} error */
export function failure(error) {
  const code = error?.code ?? '';
  return has(`refused.${code}`) ? t(`refused.${code}`) : error?.reason || error?.message || t('refused.unknown');
}
