// Frames gone through like a film: the table drawn, buttons, speed, slider, keys, and the list of moves.

import { makeBoard } from './board.js';
import { button, el, say, set } from './dom.js';
import { seatDot } from './players.js';
import { parseAction } from './study-notation.js';
import { copyPosition, keepPosition } from './study-share.js';
import { outcomeLine } from './study-outcome.js';
import { s } from './study-text.js';

/** @typedef {{n: number, text: string|null, seat: number|null, view: any, position: any}} Frame */
const SPEEDS = ['0.5', '1', '2', '3', '5', '10', 'max'];
const KEPT = 'jolly.study.speed';
let films = 0;

/**
 * Make what shows frames.
 * @param {{
 *   name?: string, board?: Parameters<typeof makeBoard>[0], playOn?: boolean,
 *   shown?: (frame: Frame, next: Frame|null, film: ReturnType<typeof makeFrames>) => void,
 * }} [options] `shown` hears of each frame that is shown, with the one after it
 */
export function makeFrames({ name = 'study', board: hooks = {}, playOn = true, shown } = {}) {
  films += 1;
  const film = films;
  /** @type {Frame[]} */
  let frames = [];
  let at = -1, playing = false, live = false, jumps = 0, wanted = false;
  /** @type {any} */
  let timer = 0;

  const board = makeBoard(hooks);
  const outcome = el('p', { class: 'study-outcome', 'aria-live': 'polite', hidden: true });
  const toStart = glyph('to-start', '⏮', 'to-start', () => jump(0));
  const back = glyph('step-back', '◀', 'step-back', () => step(-1));
  const play = glyph('play-pause', '▶', 'play', toggle);
  const forward = glyph('step-forward', '▶', 'step-forward', () => step(1));
  const toEnd = glyph('to-end', '⏭', 'to-end', () => { jump(frames.length - 1, live && playing); });
  forward.classList.add('step');
  back.classList.add('step');
  const speed = el('select', { id: 'speed' }, ...SPEEDS.map((value) => el('option', { value, text: value === 'max' ? s('speed.max') : s('speed.each', { n: Number(value) }) })));
  const kept = localStorage.getItem(KEPT) ?? '';
  speed.value = SPEEDS.includes(kept) ? kept : '2';
  speed.addEventListener('change', () => { localStorage.setItem(KEPT, speed.value); run(); });
  const slider = el('input', { id: 'slider', type: 'range', min: 0, max: 0, value: 0, step: 1, 'aria-label': s('slider') });
  slider.addEventListener('input', () => jump(Number(slider.value)));
  const place = el('output', { class: 'study-at', for: 'slider' });
  const badge = el('span', { class: 'study-live', hidden: true });
  const copy = button(s('copy'), () => { if (at >= 0) copyPosition(frames[at].position); }, { id: 'copy-position' });
  const on = button(s('play-on'), () => {
    if (at < 0) return;
    keepPosition(frames[at].position);
    location.hash = '#/study/position';
  }, { id: 'play-on', title: s('play-on-long'), hidden: !playOn });
  const controls = el('div', { class: 'study-controls', role: 'toolbar', 'aria-label': s('controls') },
    el('div', { class: 'study-buttons' }, toStart, back, play, forward, toEnd, el('label', { class: 'study-speed' }, el('span', { text: s('speed') }), speed), badge),
    el('div', { class: 'study-slide' }, slider, place), el('div', { class: 'study-position-buttons' }, copy, on));
  const list = el('ol', { class: 'moves', 'aria-label': s('moves') });
  list.addEventListener('click', (/** @type {MouseEvent} */ event) => {
    const item = /** @type {HTMLElement|null} */ (/** @type {HTMLElement} */ (event.target).closest('li[data-n]'));
    if (item) jump(Number(item.dataset.n));
  });
  const moves = el('section', { class: 'study-moves' }, el('h2', { text: s('moves') }), list);
  const element = el('div', { class: 'study-film' }, el('div', { class: 'study-table' }, outcome, board.element), controls);
  document.addEventListener('keydown', keyed);
  renew();

  /** A round button with a sign. @param {string} id @param {string} sign @param {string} key @param {() => void} click */
  function glyph(id, sign, key, click) {
    return button(sign, click, { id, class: 'glyph', 'aria-label': s(key), title: s(key) });
  }

  // Going through

  /** Go to a frame; one that goes on by hand stays in motion only if told so. @param {number} to */
  function jump(to, goOn = false) {
    if (!goOn) pause();
    show(Math.max(0, Math.min(frames.length - 1, to)), false);
  }

  /** @param {number} by */
  function step(by) {
    pause();
    if (frames[at + by]) show(at + by, by === 1);
  }

  function toggle() {
    if (playing) pause();
    else start();
  }

  function start() {
    if (at === frames.length - 1 && !live && frames.length > 1) show(0, false);
    playing = true;
    renew();
    run();
  }

  function pause() {
    playing = false;
    clearTimeout(timer);
    renew();
  }

  /** Take the next step when its time has come; at the end of a table that is played, wait. */
  function run() {
    clearTimeout(timer);
    if (!playing) return;
    if (at >= frames.length - 1) {
      if (!live) pause();
      return;
    }
    const wait = speed.value === 'max' ? 16 : 1000 / Number(speed.value);
    timer = setTimeout(() => {
      show(at + 1, wait >= 300);
      run();
    }, wait);
  }

  /** @param {number} to @param {boolean} moved whether cards fly there */
  function show(to, moved) {
    const frame = frames[to];
    if (!frame) return;
    if (!moved) jumps += 1;
    const before = list.children[at];
    at = to;
    const action = parseAction(frame.text);
    board.draw({
      ...frame.view, table: `${name} ${film} ${jumps}`, version: `${film} ${to}`,
      last: action === null || frame.seat === null ? null : { seat: frame.seat, action, text: frame.text },
    });
    if (before) mark(before, false);
    if (list.children[at]) mark(list.children[at], true);
    outcome.hidden = !frame.view.outcome;
    say(outcome, frame.view.outcome ? outcomeLine(frame.view) : '');
    renew();
    shown?.(frame, frames[at + 1] ?? null, api);
  }

  /** Mark the move that is shown, and bring it into sight within the list. @param {Element} item @param {boolean} on_ */
  function mark(item, on_) {
    item.classList.toggle('current', on_);
    set(item.firstElementChild, 'aria-current', on_ ? 'step' : null);
    set(item.firstElementChild, 'tabindex', on_ ? '0' : '-1');
    if (!on_) return;
    if (list.contains(document.activeElement)) /** @type {HTMLElement} */ (item.firstElementChild).focus({ preventScroll: true });
    const node = /** @type {HTMLElement} */ (item);
    const top = node.offsetTop - list.offsetTop;
    if (top < list.scrollTop + 30 || top + node.offsetHeight > list.scrollTop + list.clientHeight - 30) list.scrollTop = top - list.clientHeight / 2;
  }

  function renew() {
    const last = frames.length - 1;
    say(play, playing ? '⏸' : '▶');
    set(play, 'aria-label', s(playing ? 'pause' : 'play'));
    set(play, 'title', s(playing ? 'pause' : 'play'));
    set(play, 'aria-pressed', String(playing));
    for (const node of [toStart, back]) set(node, 'aria-disabled', at <= 0 ? 'true' : null);
    for (const node of [forward, toEnd]) set(node, 'aria-disabled', at >= last ? 'true' : null);
    play.disabled = frames.length < 2 && !live;
    slider.max = String(Math.max(0, last));
    slider.value = String(Math.max(0, at));
    slider.disabled = last < 1;
    const text = at < 0 ? '' : frames[at].text ?? s('dealt', { n: frames[at].view.round + 1 });
    set(slider, 'aria-valuetext', at < 0 ? null : s('at-long', { n: at, last, text }));
    say(place, at < 0 ? '' : `${at} / ${last}`);
    badge.hidden = !live;
    say(badge, s(playing ? 'live' : 'live-paused'));
    badge.classList.toggle('still', !playing);
    copy.disabled = at < 0;
    on.disabled = at < 0;
  }

  /** @param {KeyboardEvent} event */
  function keyed(event) {
    const target = /** @type {HTMLElement} */ (event.target);
    if (event.defaultPrevented || event.ctrlKey || event.altKey || event.metaKey || !element.isConnected || document.querySelector('dialog[open]')) return;
    const range = target === slider;
    if (!range && target.closest('input, select, textarea, [contenteditable], .study-keys-off')) return;
    const elsewhere = target.closest('button, a, summary') && !target.closest('.moves');
    if (event.key === 'ArrowLeft') step(-1);
    else if (event.key === 'ArrowRight') step(1);
    else if (event.key === 'Home') jump(0);
    else if (event.key === 'End') jump(frames.length - 1, live && playing);
    else if (event.key === ' ' && !elsewhere) toggle();
    else return;
    event.preventDefault();
  }

  /** @param {Frame} frame @param {number} n */
  function move(frame, n) {
    const deal = frame.text === null;
    const text = deal ? s(n === 0 && frame.view.turn > 0 ? 'from-here' : 'dealt', { n: frame.view.round + 1 }) : frame.text;
    return el('li', { 'data-n': n, class: deal ? 'deal' : frame.text?.startsWith('discard') ? 'turn-end' : null },
      el('button', { type: 'button', tabindex: '-1', title: frame.seat === null ? null : frame.view.players[frame.seat].name },
        frame.seat === null ? null : seatDot(frame.seat), el('span', { class: 'move-text', text }), el('span', { class: 'move-n', 'aria-hidden': 'true', text: String(n) })));
  }

  const api = {
    element, moves, board,
    get current() { return frames[at] ?? null; },
    get at() { return at; },
    get length() { return frames.length; },
    get playing() { return playing; },
    /** Put other frames in, and go to one of them. @param {Frame[]} all @param {number} [to] */
    replace(all, to = 0) {
      frames = [...all];
      list.replaceChildren(...frames.map(move));
      at = -1;
      jumps += 1;
      pause();
      if (frames.length) show(Math.min(to, frames.length - 1), false);
    },
    /** Add frames at the end. @param {Frame[]} more */
    add(more) {
      const first = frames.length;
      frames.push(...more);
      list.append(...more.map((frame, i) => move(frame, first + i)));
      if (at < 0 && frames.length) show(0, false);
      else if (more.length && at === first - 1) shown?.(frames[at], frames[at + 1], api);
      renew();
      if (playing && at < frames.length - 1 && !wanted) {
        wanted = true;
        queueMicrotask(() => { wanted = false; if (playing && at < frames.length - 1) run(); });
      }
    },
    /** Drop what comes after the frame that is shown, and go on with another. @param {Frame} frame */
    goOn(frame) {
      pause();
      frames.length = at + 1;
      while (list.childElementCount > frames.length) list.lastElementChild?.remove();
      frames.push(frame);
      list.append(move(frame, frames.length - 1));
      show(frames.length - 1, true);
    },
    /** Say whether more frames are to come. @param {boolean} on_ */
    setLive(on_) {
      live = on_;
      if (!live && playing && at >= frames.length - 1) pause();
      renew();
    },
    start, pause,
    close() {
      clearTimeout(timer);
      document.removeEventListener('keydown', keyed);
    },
  };
  return api;
}
