// The right column: time left, target, points, buttons and chat; on a phone a bar that opens.

import { button, el, say, set, sync } from './dom.js';
import { seatDot } from './players.js';
import { minus, signed, t } from './text.js';

/**
 * Make the column.
 * @param {{info: (seat: number) => void, invite: () => void, leave: () => void, chat: (text: string) => void}} on
 */
export function makeSide(on) {
  const time = el('p', { id: 'time-left' });
  const target = el('p', { class: 'target' });
  const toggle = button(t('side.more'), () => {
    const open = element.classList.toggle('open');
    set(toggle, 'aria-expanded', String(open));
    if (open) toggle.classList.remove('news');
  }, { class: 'side-toggle', 'aria-expanded': 'false', 'aria-controls': 'side-body' });
  const points = el('tbody');
  const table = el('table', { class: 'totals' },
    el('thead', {}, el('tr', {}, el('th', { scope: 'col', text: t('side.player') }), el('th', { scope: 'col', text: t('side.round') }), el('th', { scope: 'col', text: t('side.total') }))), points);
  const invite = button(t('side.invite'), on.invite);
  const buttons = el('div', { class: 'side-buttons' }, invite, button(t('side.leave'), on.leave, { id: 'leave' }));
  const lines = el('div', { class: 'chat-lines', role: 'log', 'aria-label': t('chat.title'), tabindex: '0' });
  const input = el('input', { class: 'chat-input', maxlength: 400, 'aria-label': t('chat.say'), placeholder: t('chat.say'), autocomplete: 'off' });
  const form = el('form', { class: 'chat-form' }, input, el('button', { type: 'submit', text: t('chat.send') }));
  form.addEventListener('submit', (/** @type {Event} */ event) => {
    event.preventDefault();
    const text = input.value.trim();
    if (text) on.chat(text);
    input.value = '';
  });
  const body = el('div', { class: 'side-body', id: 'side-body' }, table, buttons, el('h2', { text: t('chat.title') }), lines, form);
  const element = el('aside', { class: 'side', 'aria-label': t('side.label') }, el('div', { class: 'side-head' }, time, target, toggle), body);

  /** @type {number|null} */
  let until = null;
  let text = '';
  const clock = setInterval(tick, 250);

  function tick() {
    if (until !== null) {
      const left = Math.max(0, Math.ceil((until - performance.now()) / 1000));
      text = t('time.left', { time: `${Math.floor(left / 60)}:${String(left % 60).padStart(2, '0')}` });
      time.classList.toggle('short', left <= 10);
    }
    say(time, text);
  }

  /** @param {any} view */
  function draw(view) {
    time.classList.toggle('mine', view.seat === view.you && view.state === 'playing');
    until = view.left !== null && view.left !== undefined && !view.paused ? performance.now() + view.left : null;
    if (until === null) {
      time.classList.remove('short');
      text = view.paused && view.seconds ? t('time.paused') : view.seconds ? t('time.each', { n: view.seconds }) : t('time.none');
    }
    tick();
    say(target, view.target === null ? t('target.none') : t('target.is', { n: view.target }));
    invite.hidden = view.state !== 'waiting';
    sync(points, view.players, (/** @type {any} */ player) => `${player.seat}`,
      (player) => el('tr', {}, el('th', { scope: 'row' }, el('div', {}, seatDot(player.seat), button('', () => on.info(player.seat), { class: 'link' }))), el('td'), el('td')),
      (row, player) => {
        const name = /** @type {HTMLButtonElement} */ (row.querySelector('button'));
        say(name, player.kind === 'free' ? t('seat.free') : player.name);
        set(name, 'title', t('side.info'));
        name.disabled = player.kind === 'free';
        row.classList.toggle('me', player.seat === view.you);
        say(row.children[1], player.score === null || player.score === undefined ? (player.laid ? `+${player.laid}` : '') : signed(player.score));
        say(row.children[2], player.total === undefined ? '' : minus(player.total));
      });
  }

  /** @param {{seat: number|null, name: string, text: string, time: string}} line */
  function chatLine(line) {
    const at = new Date(line.time);
    const clockText = Number.isNaN(at.valueOf()) ? '' : at.toLocaleTimeString(document.documentElement.lang, { hour: '2-digit', minute: '2-digit' });
    return el('p', { class: 'chat-line' }, line.seat === null ? null : seatDot(line.seat), el('strong', { text: line.name }), ' ', el('span', { text: line.text }), ' ', el('time', { datetime: line.time, text: clockText }));
  }

  return {
    element, draw,
    /** @param {any[]} all */
    chats(all) {
      lines.replaceChildren(...all.map(chatLine));
      lines.scrollTop = lines.scrollHeight;
    },
    /** @param {any} line */
    chat(line) {
      lines.append(chatLine(line));
      lines.scrollTop = lines.scrollHeight;
      if (!element.classList.contains('open')) toggle.classList.add('news');
    },
    close() { clearInterval(clock); },
  };
}
