// A table that waits for players: who is there, a seat to take, the link that invites.

import { button, dialog, el, toast } from './dom.js';
import { api } from './net.js';
import { failure, me } from './people.js';
import { t } from './text.js';

/**
 * Make what is shown while a table waits.
 * @param {string} id @param {string|null} invite @param {() => void} joined to be called once a seat was taken
 */
export function waitingRoom(id, invite, joined) {
  const words = el('p', { class: 'waiting-words' });
  const buttons = el('div', { class: 'buttons' });
  const element = el('div', { class: 'waiting', hidden: true }, words, buttons);
  let busy = false;

  async function join() {
    if (busy) return;
    busy = true;
    try {
      await me();
      await api('POST', `/api/tables/${id}/join`, { invite });
      joined();
    } catch (error) {
      toast(failure(error), 'bad');
    }
    busy = false;
  }

  /** Show the link to this table. */
  async function showInvite() {
    let code = invite;
    try {
      code = (await api('GET', `/api/tables/${id}`)).invite ?? invite;
    } catch { /* the link without a code still leads here */ }
    const link = `${location.origin}/#/table/${id}${code ? `?invite=${encodeURIComponent(code)}` : ''}`;
    const input = el('input', { id: 'invite-link', value: link, readonly: true, 'aria-label': t('invite.link') });
    dialog(t('invite.title'), (close) => [
      el('p', { text: t('invite.about') }), input,
      el('div', { class: 'buttons' }, button(t('invite.copy'), async () => {
        input.select();
        try {
          await navigator.clipboard.writeText(link);
          toast(t('invite.copied'));
        } catch {
          toast(t('invite.by-hand'));
        }
      }, { class: 'main' }), button(t('close'), close)),
    ]);
    input.select();
  }

  /** @param {any} view */
  function draw(view) {
    element.hidden = view.state !== 'waiting';
    if (element.hidden) return;
    const free = view.players.filter((/** @type {any} */ player) => player.kind === 'free').length;
    words.textContent = t('waiting.for', { n: free });
    const sits = view.you !== null;
    const shown = `${sits} ${free}`;
    if (buttons.dataset.shown === shown) return;
    buttons.dataset.shown = shown;
    buttons.replaceChildren(...(sits ? [] : [button(t('waiting.join'), join, { class: 'main', id: 'take-seat' })]), button(t('side.invite'), showInvite, { id: 'invite' }));
  }

  return { element, draw, invite: showInvite };
}
