// Setting a position up: the form, the table that it makes, and playing on from there, by hand or against agents.

import { button, el, toast } from './dom.js';
import { makeFrames } from './frames.js';
import { api } from './net.js';
import { failure } from './people.js';
import { example } from './study-document.js';
import { makeForm } from './study-form.js';
import { agentChoices, heading, room } from './study-parts.js';
import { makeLegal } from './study-legal.js';
import { keepPosition, keptPosition, why } from './study-share.js';
import { s } from './study-text.js';
import { known } from './table.js';
import { makeThinking } from './thinking.js';

/** Milliseconds after the last key until the server looks at a position. */
const STAY = 200;

/** Open the page. @param {HTMLElement} root */
export async function openPosition(root) {
  const thinking = makeThinking();
  const legal = makeLegal((action) => step(action));
  const film = makeFrames({
    name: 'position', playOn: false, board: { stock: () => legal.play(0), take: (count) => legal.play(count), fit: (action) => legal.play(action) },
    shown(frame, next) {
      thinking.show(frame, next);
      legal.draw(frame, film.board);
      renewAgainst(frame);
    },
  });
  const wrong = el('p', { id: 'position-error', role: 'alert', class: 'study-wrong', hidden: true });
  const form = makeForm(keptPosition() ?? example(), look, fail);
  const againstBox = el('div', { class: 'study-against' });
  const against = el('details', { class: 'study-panel' }, el('summary', { text: s('against.title') }), againstBox);
  const place = room(film, thinking, legal.element, against);
  const start = button(s('position.to-form'), () => { if (film.current) form.use(film.current.position); }, { id: 'position-edit', title: s('position.to-form-about') });
  root.append(heading('position.title', 'position.about'),
    el('div', { class: 'study-setup' }, el('div', { class: 'study-panel study-edit' }, el('div', { class: 'study-position-buttons' }, button(s('position.example'), () => form.use(example())), start), wrong, form.element), place));
  let asked = 0, seats = 0, closed = false, stepping = false;
  /** @type {ReturnType<typeof agentChoices>|null} */
  let choices = null;
  /** @type {any} */
  let timer = 0;

  /** Look at a position once the typing stops for a moment. @param {any} position */
  function look(position) {
    keepPosition(position);
    clearTimeout(timer);
    asked += 1;
    const mine = asked;
    timer = setTimeout(async () => {
      try {
        const frame = await api('POST', '/api/study/position', { position });
        if (closed || mine !== asked) return;
        fail('');
        film.replace([frame]);
      } catch (error) {
        if (!closed && mine === asked) fail(why(error, failure));
      }
    }, STAY);
  }

  /** Say what is wrong with the position; the table is the last that was right. @param {string} reason */
  function fail(reason) {
    if (reason) asked += 1;
    wrong.textContent = reason;
    wrong.hidden = reason === '';
    place.classList.toggle('stale', reason !== '');
  }

  /** Play on by hand. @param {number|null} action */
  async function step(action) {
    const frame = film.current;
    if (!frame || stepping) return;
    stepping = true;
    try {
      const next = await api('POST', '/api/study/step', { position: frame.position, action });
      if (!closed && film.current === frame) film.goOn(next);
    } catch (error) {
      if (!closed) toast(why(error, failure), 'bad');
    }
    stepping = false;
  }

  /** Let the choices of who plays fit the number of seats. @param {any} frame */
  async function renewAgainst(frame) {
    const count = frame.view.players.length;
    against.hidden = frame.view.state !== 'playing';
    if (count === seats) return;
    seats = count;
    const fresh = agentChoices(count, count, { me: true, prefix: 'against-seat', label: (i) => s('seat', { n: i }) });
    choices = fresh;
    againstBox.replaceChildren(el('p', { class: 'dim', text: s('against.about') }), el('div', { class: 'study-fields' }, ...fresh.fields), button(s('against.start'), play, { id: 'position-play', class: 'main' }));
    try {
      await fresh.load();
      fresh.sit(frame.view.seat);
    } catch (error) {
      if (!closed) toast(failure(error), 'bad');
    }
  }

  async function play() {
    const frame = film.current;
    if (!frame || !choices) return;
    const who = choices.seats();
    try {
      await known();
      const table = await api('POST', '/api/tables', { seats: who, sit: who.includes('person'), target: frame.position.rules?.target ?? null, position: frame.position });
      location.hash = who.includes('person') ? `#/table/${table.table}` : `#/study/table/${table.table}`;
    } catch (error) {
      toast(why(error, failure), 'bad');
    }
  }

  look(form.position);
  return () => {
    closed = true;
    clearTimeout(timer);
    film.close();
    thinking.close();
  };
}
