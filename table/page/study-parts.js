// Parts that the pages of the study share: the room with table, moves and thinking, and choices of agents for seats.

import { el } from './dom.js';
import { api } from './net.js';
import { aboutAgent } from './people.js';
import { s } from './study-text.js';
import { t } from './text.js';

/**
 * Lay out a film with its moves and the thinking beside it; what else is wanted goes above the moves.
 * @param {ReturnType<typeof import('./frames.js').makeFrames>} film @param {ReturnType<typeof import('./thinking.js').makeThinking>} thinking @param {...HTMLElement} more
 */
export function room(film, thinking, ...more) {
  return el('div', { class: 'study-room' }, film.element, el('div', { class: 'study-side' }, ...more, film.moves, thinking.element));
}

/**
 * Make choices of who sits where.
 * @param {number} count how many seats @param {number} least seats that can't stay empty @param {{me?: boolean, prefix?: string, label?: (i: number) => string}} [more]
 */
export function agentChoices(count, least, { me = false, prefix = 'watch-seat', label = (i) => t('setup.seat', { n: i + 1 }) } = {}) {
  /** @type {{name: string, about: string, rating: number}[]} */
  let agents = [];
  const seats = Array.from({ length: count }, (_, i) => {
    const select = el('select', { id: `${prefix}-${i}` });
    const about = el('p', { class: 'dim' });
    select.setAttribute('aria-describedby', about.id = `${prefix}-${i}-about`);
    select.addEventListener('change', tell);
    return { select, about, field: el('div', { class: 'study-field' }, el('label', { for: select.id, text: label(i) }), select, about) };
  });

  function tell() {
    for (const { select, about } of seats) {
      const agent = agents.find((one) => one.name === select.value);
      about.textContent = agent ? aboutAgent(agent.name, agent.about) : '';
    }
  }

  return {
    fields: seats.map((seat) => seat.field),
    /** The agents that were chosen, "person" for oneself. */
    seats: () => seats.map((seat) => seat.select.value).filter(Boolean),
    /** Seat oneself there, the strongest agent elsewhere. @param {number} seat */
    sit(seat) {
      seats.forEach(({ select }, i) => { select.value = i === seat ? 'person' : agents[agents.length - 1]?.name ?? ''; });
      tell();
    },
    async load() {
      agents = await api('GET', '/api/agents');
      seats.forEach(({ select }, i) => {
        select.replaceChildren(...(i >= least ? [el('option', { value: '', text: t('setup.nobody') })] : []), ...(me ? [el('option', { value: 'person', text: t('setup.me') })] : []),
          ...agents.map((agent) => el('option', { value: agent.name, text: t('setup.agent', { name: agent.name, rating: Math.round(agent.rating) }) })));
        select.value = i >= least ? '' : agents[Math.max(0, agents.length - 1 - i)]?.name ?? '';
      });
      tell();
    },
  };
}

/** Make a heading with words that explain it. @param {string} title @param {string} about */
export function heading(title, about) {
  return el('div', { class: 'study-heading' }, el('h1', { text: s(title) }), el('p', { class: 'dim', text: s(about) }));
}
