// What an agent thinks about a position: its value, how likely it plays what, and what it expects others to hold.

import { words } from './actions.js';
import { el, say } from './dom.js';
import { api } from './net.js';
import { aboutAgent, failure } from './people.js';
import { beliefPicture } from './study-belief.js';
import { actionText, parseAction } from './study-notation.js';
import { prepare, s } from './study-text.js';
import { why } from './study-share.js';

/** Load what a thought is shown with. */
export const prepareThoughts = prepare;

const KEPT = 'jolly.study.agent';
/** Questions that may be open at once, since an agent may take its time. */
const AT_ONCE = 2;
/** Actions of which a thought tells at most. */
const MOST = 12;
/** Milliseconds that one has to stay at a frame before an agent is asked. */
const STAY = 250;

/**
 * Show a THOUGHT, in the study or beside a table; await `prepareThoughts()` before the first.
 * @param {any} thought @param {string|number|null} [played] what was played in truth, in notation or as a number @param {any} [view] for names, words and true hands
 * @returns {HTMLElement}
 */
export function thoughtPanel(thought, played = null, view = null) {
  const likely = /** @type {[number, string, number][]} */ (thought.probabilities ?? []);
  const same = (/** @type {[number, string, number]} */ one) => played !== null && (one[0] === played || one[1] === played);
  const mover = view ? view.players[view.seat].name : null;
  const bars = likely.map((one) => bar(one[1], one[2], share(one[2]), same(one), one[0], view));
  if (played !== null && !likely.some(same)) bars.push(unlisted(played, likely, view));
  return el('div', { class: 'thought' },
    thought.value === null || thought.value === undefined ? el('p', { class: 'value', text: s('think.no-value') })
      : el('p', { class: 'value' }, el('strong', { text: points(thought.value) }), ' ', mover ? s('think.value-of', { name: mover }) : s('think.value')),
    el('h3', { text: s('think.likely') }), bars.length ? el('ol', { class: 'probabilities' }, ...bars) : el('p', { class: 'dim', text: s('think.nothing') }),
    thought.belief ? beliefPicture(thought.belief, view) : null);
}

/**
 * One action with its probability.
 * @param {string} text @param {number} probability @param {string} percent @param {boolean} played @param {number|null} action @param {any} view
 */
function bar(text, probability, percent, played, action, view) {
  const fill = el('span', { class: 'bar', 'aria-hidden': 'true' });
  fill.style.width = `${(100 * probability).toFixed(1)}%`;
  return el('li', { class: `probability${played ? ' played' : ''}`, 'data-action': action, title: view && action !== null ? words(action, view) : null }, fill, el('span', { class: 'what', text }),
    played ? el('span', { class: 'tag', text: s('think.played') }) : null, el('span', { class: 'percent', text: percent }));
}

/** What was played though the agent does not name it. @param {string|number} played @param {[number, string, number][]} likely @param {any} view */
function unlisted(played, likely, view) {
  const action = typeof played === 'number' ? played : parseAction(played);
  const text = typeof played === 'string' ? played : view ? actionText(played, view) : String(played);
  const least = likely.length < MOST ? 0 : likely[likely.length - 1][2];
  return bar(text, 0, least < 0.0005 ? share(least) : `< ${share(least)}`, true, action, view);
}

/** @param {number} probability */
function share(probability) {
  const percent = 100 * probability;
  return percent === 0 ? '0 %' : percent >= 99.95 ? '100 %' : percent < 0.1 ? '< 0.1 %' : `${percent.toFixed(1)} %`;
}

/** @param {number} value */
function points(value) {
  const text = Math.abs(value).toFixed(1);
  return s('think.points', { points: value < -0.05 ? `−${text}` : value > 0.05 ? `+${text}` : text });
}

/** Make the panel beside a table, which asks the chosen agent about each frame that one stays at. */
export function makeThinking() {
  const choice = el('select', { id: 'think-agent' }, el('option', { value: '', text: s('think.nobody') }));
  const about = el('p', { class: 'dim' });
  const note = el('p', { class: 'think-note', role: 'status' });
  const body = el('div', { class: 'think-body' });
  const element = el('section', { class: 'thinking' }, el('h2', { text: s('think.title') }), el('div', { class: 'think-choice' }, el('label', { for: 'think-agent', text: s('think.agent') }), choice), about, note, body);
  /** @type {WeakMap<object, Map<string, any>>} answers by frame and agent */
  const known = new WeakMap();
  /** @type {any} */
  let frame = null;
  /** @type {any} */
  let next = null;
  /** @type {any} */
  let timer = 0;
  let closed = false;
  /** @type {{frame: any, agent: string}[]} questions that are not answered yet */
  let open = [];
  /** @type {{name: string, about: string}[]} */
  let agents = [];

  choice.addEventListener('change', () => {
    localStorage.setItem(KEPT, choice.value);
    look();
  });
  api('GET', '/api/agents').then((/** @type {any[]} */ all) => {
    agents = all;
    choice.append(...all.map((agent) => el('option', { value: agent.name, text: agent.name })));
    const kept = localStorage.getItem(KEPT) ?? '';
    if (choice.value === '' && all.some((agent) => agent.name === kept)) choice.value = kept;
    look();
  }).catch((error) => say(note, failure(error)));

  const answer = () => known.get(frame)?.get(choice.value);

  /** Show what is known of the frame, or ask once one has stayed for a moment. */
  function look() {
    clearTimeout(timer);
    const agent = agents.find((one) => one.name === choice.value);
    say(about, agent ? aboutAgent(agent.name, agent.about) : s('think.about'));
    if (!frame || !agent) return empty('');
    if (frame.view.state !== 'playing') return empty(s('think.no-round'));
    if (answer()) return draw(answer());
    element.classList.add('asking');
    say(note, s('think.asking', { name: agent.name }));
    timer = setTimeout(ask, STAY);
  }

  /** Few questions at a time; the frame that is shown when an answer comes is asked about next. */
  async function ask() {
    const asked = frame, agent = choice.value;
    if (closed || !asked || !agent || open.length >= AT_ONCE || open.some((one) => one.frame === asked && one.agent === agent)) return;
    const question = { frame: asked, agent };
    open.push(question);
    /** @type {any} */
    let found;
    try {
      found = { thought: await api('POST', '/api/study/think', { position: asked.position, agent }) };
    } catch (error) {
      found = { wrong: why(error, failure), again: true };
    }
    open = open.filter((one) => one !== question);
    if (closed) return;
    const answers = known.get(asked) ?? new Map();
    if (!found.again) known.set(asked, answers.set(agent, found));
    if (asked === frame && agent === choice.value) draw(found);
    else if (frame.view.state === 'playing' && choice.value && !answer()) look();
  }

  /** @param {string} text */
  function empty(text) {
    element.classList.remove('asking');
    say(note, text);
    body.replaceChildren();
  }

  /** @param {any} found */
  function draw(found) {
    element.classList.remove('asking');
    element.classList.toggle('failed', Boolean(found.wrong));
    say(note, found.wrong ?? '');
    body.replaceChildren(...(found.wrong ? [] : [thoughtPanel(found.thought, next?.text ?? null, frame.view)]));
  }

  return {
    element,
    /** Think about another frame. @param {any} now @param {any} after the frame after it, which tells what was played */
    show(now, after) {
      const renewed = frame !== now || next !== after;
      frame = now;
      next = after;
      if (renewed) look();
    },
    close() {
      closed = true;
      clearTimeout(timer);
    },
  };
}
