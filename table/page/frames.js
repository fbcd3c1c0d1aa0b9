// Frames gone through like a film: which one is shown, and when the next. The table, its controls and the list of moves hear of it.

import { makeBoard } from './board.js';
import { el, say } from './dom.js';
import { makeControls } from './study-controls.js';
import { makeMoves, moveText } from './study-moves.js';
import { parseAction } from './study-notation.js';
import { statusLine } from './study-outcome.js';
import { copyPosition, keepPosition } from './study-share.js';

/** @typedef {{n: number, text: string|null, seat: number|null, view: any, position: any}} Frame */
/** Steps that come faster than this, in milliseconds, are shown without cards in flight. */
const CALM = 300;
let films = 0;

/**
 * Make what shows frames.
 * @param {{
 *   name?: string, board?: Parameters<typeof makeBoard>[0], playOn?: boolean,
 *   shown?: (frame: Frame, next: Frame|null) => void,
 * }} [options] `shown` hears of each frame that is shown, with the one after it
 */
export function makeFrames({ name = 'study', board: hooks = {}, playOn = true, shown } = {}) {
  films += 1;
  const film = films;
  /** @type {Frame[]} */
  let frames = [];
  let at = -1, playing = false, live = false, jumps = 0;
  /** @type {any} */
  let timer = 0;

  const board = makeBoard(hooks);
  const moves = makeMoves((n) => jump(n));
  const controls = makeControls({
    start: () => jump(0), back: () => step(-1), toggle, forward: () => step(1), end, to: (n) => jump(n), speed: () => run(),
    copy() { if (at >= 0) copyPosition(frames[at].position); },
    playOn: playOn ? () => {
      if (at < 0) return;
      keepPosition(frames[at].position);
      location.hash = '#/study/position';
    } : null,
  });
  const status = el('p', { class: 'study-status' });
  const element = el('div', { class: 'study-film' }, el('div', { class: 'study-table' }, board.element), el('div', { class: 'study-line' }, status, controls.positionButtons), controls.element);
  document.addEventListener('keydown', keyed);
  renew();

  /** Go to a frame, and stay there unless told otherwise. @param {number} to */
  function jump(to, goOn = false) {
    if (!goOn) pause();
    show(Math.max(0, Math.min(frames.length - 1, to)), false);
  }

  /** @param {number} by */
  function step(by) {
    pause();
    if (frames[at + by]) show(at + by, by === 1);
  }

  /** Go to the end, and follow from there where more is to come. */
  function end() {
    jump(frames.length - 1, live);
    if (live) start();
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

  /** Take the next step when its time has come; at the end of a table that is being played, wait. */
  function run() {
    clearTimeout(timer);
    if (!playing) return;
    if (at >= frames.length - 1) {
      if (!live) pause();
      return;
    }
    timer = setTimeout(() => {
      show(at + 1, controls.wait >= CALM);
      run();
    }, controls.wait);
  }

  /** @param {number} to @param {boolean} moved whether cards fly there */
  function show(to, moved) {
    const frame = frames[to];
    if (!frame) return;
    if (!moved) jumps += 1;
    if (to !== at) moves.mark(at, false);
    at = to;
    const action = parseAction(frame.text);
    board.draw({
      ...frame.view, table: `${name} ${film} ${jumps}`, version: `${film} ${to} ${jumps}`,
      last: action === null || frame.seat === null ? null : { seat: frame.seat, action, text: frame.text },
    });
    moves.mark(at, true);
    say(status, statusLine(frame.view));
    status.classList.toggle('over', Boolean(frame.view.outcome));
    renew();
    shown?.(frame, frames[at + 1] ?? null);
  }

  function renew() {
    controls.renew({ at, last: frames.length - 1, playing, live, text: at < 0 ? '' : moveText(frames[at], at) });
  }

  /** @param {KeyboardEvent} event */
  function keyed(event) {
    const target = /** @type {HTMLElement} */ (event.target);
    if (event.defaultPrevented || event.ctrlKey || event.altKey || event.metaKey || event.shiftKey || !element.isConnected || document.querySelector('dialog[open]')) return;
    if (target !== controls.slider && target.closest?.('input, select, textarea')) return;
    const pressed = target.closest?.('button, a, summary') && !target.closest('.moves');
    if (event.key === 'ArrowLeft') step(-1);
    else if (event.key === 'ArrowRight') step(1);
    else if (event.key === 'Home') jump(0);
    else if (event.key === 'End') end();
    else if (event.key === ' ' && !pressed) toggle();
    else return;
    event.preventDefault();
  }

  return {
    element, board, moves: moves.element, start, pause,
    get current() { return frames[at] ?? null; },
    /** Put other frames in, and go to the first. @param {Frame[]} all */
    replace(all) {
      pause();
      frames = [...all];
      moves.cut(0);
      moves.add(frames, 0);
      at = -1;
      show(0, false);
    },
    /** Add frames at the end. @param {Frame[]} more */
    add(more) {
      if (more.length === 0) return;
      const first = frames.length, waited = playing && at >= first - 1;
      frames.push(...more);
      moves.add(more, first);
      if (at < 0) show(0, false);
      else if (at === first - 1) shown?.(frames[at], frames[at + 1]);
      renew();
      if (waited) run();
    },
    /** Drop what comes after the frame that is shown, and go on with another. @param {Frame} frame */
    goOn(frame) {
      pause();
      frames.length = at + 1;
      moves.cut(frames.length);
      frames.push(frame);
      moves.add([frame], frames.length - 1);
      show(frames.length - 1, true);
    },
    /** Say whether more frames are to come. @param {boolean} on */
    setLive(on) {
      live = on;
      if (!live && playing && at >= frames.length - 1) pause();
      renew();
    },
    close() {
      clearTimeout(timer);
      document.removeEventListener('keydown', keyed);
    },
  };
}
