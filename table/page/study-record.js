// Opening a record (or a position) from a file: its rounds to choose from, one of them as frames.

import { button, el, set } from './dom.js';
import { makeFrames } from './frames.js';
import { failure } from './people.js';
import { heading, room } from './study-parts.js';
import { keepPosition, postText, why } from './study-share.js';
import { s } from './study-text.js';
import { makeThinking } from './thinking.js';
import { signed } from './text.js';

const LARGEST = 4 * 1024 * 1024 - 4096;
/** The record that was opened last, so that it is still there when one comes back. @type {{name: string, text: string, data: any, round: number}|null} */
let opened = null;

/** Open the page. @param {HTMLElement} root */
export function openRecord(root) {
  const thinking = makeThinking();
  const film = makeFrames({ name: 'record', shown: (frame, next) => thinking.show(frame, next) });
  const input = el('input', { type: 'file', accept: '.json,application/json', id: 'record-file' });
  const drop = el('div', { class: 'study-drop', id: 'open-record' }, el('label', { for: 'record-file', text: s('record.choose') }), input, el('span', { class: 'dim', text: s('record.drop') }));
  const wrong = el('p', { class: 'study-wrong', role: 'alert', hidden: true });
  const about = el('p', { class: 'study-note', role: 'status', hidden: true });
  const rounds = el('div', { class: 'study-rounds', role: 'group', 'aria-label': s('record.rounds'), hidden: true });
  const place = room(film, thinking);
  place.hidden = true;
  root.append(heading('record.title', 'record.about'), drop, wrong, about, rounds, place);
  let asked = 0;

  input.addEventListener('change', () => { if (input.files?.[0]) read(input.files[0]); });
  drop.addEventListener('dragover', (/** @type {DragEvent} */ event) => { event.preventDefault(); drop.classList.add('over'); });
  drop.addEventListener('dragleave', () => drop.classList.remove('over'));
  drop.addEventListener('drop', (/** @type {DragEvent} */ event) => {
    event.preventDefault();
    drop.classList.remove('over');
    const file = event.dataTransfer?.files[0];
    if (file) read(file);
  });

  /** @param {File} file */
  async function read(file) {
    asked += 1;
    const mine = asked;
    fail('');
    if (file.size > LARGEST) return fail(s('record.large'));
    const text = await file.text();
    if (mine !== asked) return undefined;
    /** @type {any} */
    let data;
    try {
      data = JSON.parse(text);
    } catch (error) {
      return fail(s('record.no-json', { name: file.name, error: error instanceof Error ? error.message : '' }));
    }
    if (data && typeof data === 'object' && 'hands' in data && !('rounds' in data)) {
      keepPosition(data);
      location.hash = '#/study/position';
      return undefined;
    }
    opened = { name: file.name, text, data, round: 0 };
    return choose(0);
  }

  /** Show a round. @param {number} number */
  async function choose(number) {
    if (!opened) return;
    asked += 1;
    const mine = asked, { text, name, data } = opened;
    opened.round = number;
    fail('');
    tell(s('record.loading'));
    try {
      const found = await postText('/api/study/record', `{"record":${text},"round":${number}}`);
      if (mine !== asked) return;
      tell(s('record.opened', { name, agents: found.agents.join(' – '), n: found.rounds }));
      rounds.hidden = found.rounds < 2;
      rounds.replaceChildren(...Array.from({ length: found.rounds }, (_, k) => {
        const scores = data.rounds[k]?.scores;
        const one = button(s('record.round', { round: k + 1 }), () => choose(k), { 'data-round': k, title: Array.isArray(scores) ? scores.map(signed).join(' : ') : null });
        set(one, 'aria-pressed', String(k === number));
        return one;
      }));
      place.hidden = false;
      film.replace(found.frames);
    } catch (error) {
      if (mine !== asked) return;
      place.hidden = true;
      rounds.hidden = true;
      opened = null;
      tell('');
      fail(why(error, failure));
    }
  }

  /** @param {string} text */
  function fail(text) {
    wrong.textContent = text;
    wrong.hidden = text === '';
    if (text) tell('');
  }

  /** @param {string} text */
  function tell(text) {
    about.textContent = text;
    about.hidden = text === '';
  }

  if (opened) choose(opened.round);
  return () => {
    asked += 1;
    film.close();
    thinking.close();
  };
}
