// The form for a new game: who sits where, the target, the time for a move, open or by invitation.

import { el, toast } from './dom.js';
import { api } from './net.js';
import { aboutAgent, failure } from './people.js';
import { t } from './text.js';

const KEPT = 'jolly.setup';

/** Make the form. */
export function makeSetup() {
  /** @type {{name: string, about: string, rating: number}[]} */
  let agents = [];
  /** @type {string[]} */
  let before = [];
  const seats = [0, 1, 2, 3].map((i) => {
    const choice = el('select', { id: `seat-${i}` });
    const about = el('p', { class: 'dim seat-about', id: `seat-${i}-about` });
    choice.setAttribute('aria-describedby', about.id);
    choice.addEventListener('change', () => changed(i));
    return { choice, about, element: el('div', { class: 'seat-choice' }, el('label', { for: choice.id, text: t('setup.seat', { n: i + 1 }) }), choice, about) };
  });
  const target = options('target', [['100', '100'], ['250', '250'], ['500', '500'], ['other', t('setup.other')], ['', t('setup.one-round')]]);
  const other = el('input', { id: 'target-other', type: 'number', min: 1, max: 100000, value: 150, 'aria-label': t('setup.other') });
  const seconds = options('seconds', [['', t('setup.no-limit')], ['15', t('time.each', { n: 15 })], ['30', t('time.each', { n: 30 })], ['60', t('time.each', { n: 60 })], ['120', t('time.each', { n: 120 })]]);
  const invited = options('invited', [['', t('setup.open')], ['yes', t('setup.by-invitation')]]);
  const invitedLine = field('invited', t('setup.who'), invited);
  const create = el('button', { type: 'submit', id: 'create', class: 'main', text: t('setup.create') });
  target.addEventListener('change', renew);
  const form = el('form', { id: 'new-game-form' }, el('div', { class: 'seat-choices' }, ...seats.map((seat) => seat.element)),
    el('div', { class: 'fields' }, el('div', { class: 'field' }, el('label', { for: 'target', text: t('setup.target') }), target, other), field('seconds', t('setup.seconds'), seconds), invitedLine), create);
  const element = el('section', { class: 'panel', id: 'new-game' }, el('h2', { text: t('setup.title') }), form);
  form.addEventListener('submit', (/** @type {Event} */ event) => {
    event.preventDefault();
    make();
  });

  /** Learn which agents there are, and fill the seats as the last time. */
  async function load() {
    agents = await api('GET', '/api/agents');
    const strongest = agents[agents.length - 1]?.name ?? '';
    const usual = agents.some((agent) => agent.name === 'planner') ? 'planner' : strongest;
    /** @type {any} */
    let kept = {};
    try { kept = JSON.parse(localStorage.getItem(KEPT) ?? '{}'); } catch { /* nothing was kept */ }
    seats.forEach((seat, i) => {
      const people = [['me', t('setup.me')], ['person', t('setup.person')]];
      const nobody = i >= 2 ? [['', t('setup.nobody')]] : [];
      seat.choice.replaceChildren(...[...nobody, ...people].map(([value, text]) => el('option', { value, text })),
        el('optgroup', { label: t('setup.agents') }, ...agents.map((agent) => el('option', { value: agent.name, text: t('setup.agent', { name: agent.name, rating: Math.round(agent.rating) }) }))));
      pick(seat.choice, kept.seats?.[i], ['me', usual, '', ''][i]);
    });
    pick(target, kept.target, '250');
    pick(seconds, kept.seconds, '');
    pick(invited, kept.invited, '');
    renew();
  }

  /** One sits only once: whoever takes another seat swaps. @param {number} i */
  function changed(i) {
    const other = seats.findIndex((seat, j) => j !== i && seat.choice.value === 'me');
    if (seats[i].choice.value === 'me' && other >= 0) seats[other].choice.value = other < 2 && before[i] === '' ? 'person' : before[i];
    renew();
  }

  function renew() {
    before = seats.map((seat) => seat.choice.value);
    other.hidden = target.value !== 'other';
    invitedLine.hidden = !seats.some((seat) => seat.choice.value === 'person');
    for (const { choice, about } of seats) {
      const agent = agents.find((one) => one.name === choice.value);
      about.textContent = agent ? aboutAgent(agent.name, agent.about) : choice.value === 'person' ? t('setup.person-about') : '';
    }
  }

  async function make() {
    const chosen = seats.map((seat) => seat.choice.value).filter(Boolean);
    localStorage.setItem(KEPT, JSON.stringify({ seats: seats.map((seat) => seat.choice.value), target: target.value, seconds: seconds.value, invited: invited.value }));
    create.disabled = true;
    try {
      const table = await api('POST', '/api/tables', {
        seats: chosen.map((seat) => (seat === 'me' ? 'person' : seat)), sit: chosen.includes('me'),
        target: target.value === '' ? null : Number(target.value === 'other' ? other.value : target.value),
        seconds: seconds.value === '' ? null : Number(seconds.value), invited: invited.value === 'yes' && !invitedLine.hidden,
      });
      location.hash = `#/table/${table.table}${table.invite ? `?invite=${encodeURIComponent(table.invite)}` : ''}`;
    } catch (error) {
      toast(failure(error), 'bad');
    }
    create.disabled = false;
  }
  return { element, load };
}

/** @param {string} id @param {string[][]} choices */
function options(id, choices) {
  return el('select', { id }, ...choices.map(([value, text]) => el('option', { value, text })));
}

/** @param {string} id @param {string} label @param {HTMLElement} control */
function field(id, label, control) {
  return el('div', { class: 'field' }, el('label', { for: id, text: label }), control);
}

/** @param {HTMLSelectElement} choice @param {string|undefined} wanted @param {string} otherwise */
function pick(choice, wanted, otherwise) {
  const values = [...choice.options].map((option) => option.value);
  choice.value = wanted !== undefined && values.includes(wanted) ? wanted : otherwise;
}
