// The legal actions of a position as a list, to play on by hand.

import { LAY_SET, MELD, DISCARD, words } from './actions.js';
import { button, el, say } from './dom.js';
import { seatDot } from './players.js';
import { actionText } from './study-notation.js';
import { s } from './study-text.js';

/** Make the list. @param {(action: number|null) => void} play */
export function makeLegal(play) {
  const who = el('p', { class: 'dim' });
  const list = el('div', { class: 'legal-actions' });
  const element = el('section', { class: 'study-panel study-legal' }, el('h2', { text: s('legal.title') }), who, list);
  /** @type {number[]} */
  let legal = [];

  /** @param {number} action @param {any} view @param {any} board */
  function choice(action, view, board) {
    const one = button('', () => play(action), { class: 'legal', 'data-action': action, title: words(action, view) });
    one.append(el('code', { text: actionText(action, view) }));
    const hint = () => board.hint(action), none = () => {
      board.hint(null);
      board.showFits([]);
    };
    for (const [event, listener] of /** @type {[string, () => void][]} */ ([['pointerenter', hint], ['focus', hint], ['pointerleave', none], ['blur', none]])) one.addEventListener(event, listener);
    return one;
  }

  return {
    element,
    /** Play an action if it is legal, as when the stock is clicked. @param {number} action */
    play(action) { if (legal.includes(action)) play(action); },
    /** @param {any} frame @param {any} board */
    draw(frame, board) {
      const { view } = frame;
      legal = view.legal;
      const name = view.players[view.seat].name;
      const parts = [(/** @type {number} */ a) => a < LAY_SET, (/** @type {number} */ a) => a >= LAY_SET && a < MELD, (/** @type {number} */ a) => a >= MELD && a < DISCARD, (/** @type {number} */ a) => a >= DISCARD];
      const groups = parts.map((part) => legal.filter(part)).filter((group) => group.length > 0);
      const focused = list.contains(document.activeElement);
      list.replaceChildren(...groups.map((group) => el('div', { class: 'legal-group' }, ...group.map((action) => choice(action, view, board)))));
      if (view.phase === 'round over') list.append(button(s('legal.next-round'), () => play(null), { id: 'next-round', class: 'main' }));
      if (focused) /** @type {HTMLElement|null} */ (list.querySelector('button'))?.focus();
      say(who, view.state === 'playing' ? s(view.phase === 'draw' ? 'legal.draw' : 'legal.play', { name }) : s(view.phase === 'round over' ? 'legal.round-over' : 'legal.game-over'));
      if (view.state === 'playing') who.prepend(seatDot(view.seat), ' ');
    },
  };
}
