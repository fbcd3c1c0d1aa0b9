// The buttons, the speed and the slider with which one goes through frames.

import { button, el, say, set } from './dom.js';
import { s } from './study-text.js';

const SPEEDS = ['0.5', '1', '2', '3', '5', '10', 'max'];
const KEPT = 'jolly.study.speed';
/** Signs, drawn so that no font is needed. */
const SIGNS = {
  'to-start': 'M5 5v14M19 5L9 12l10 7Z', 'step-back': 'M16 5L7 12l9 7Z', play: 'M8 4l11 8-11 8Z', pause: 'M8 5v14M16 5v14', 'step-forward': 'M8 5l9 7-9 7Z', 'to-end': 'M19 5v14M5 5l10 7-10 7Z',
};

/** @param {keyof typeof SIGNS} name */
function sign(name) {
  const picture = document.createElementNS('http://www.w3.org/2000/svg', 'svg');
  const path = document.createElementNS('http://www.w3.org/2000/svg', 'path');
  picture.setAttribute('viewBox', '0 0 24 24');
  picture.setAttribute('aria-hidden', 'true');
  path.setAttribute('d', SIGNS[name]);
  picture.append(path);
  return picture;
}

/**
 * Make the controls.
 * @param {{start: () => void, back: () => void, toggle: () => void, forward: () => void, end: () => void, to: (n: number) => void, speed: () => void, copy: () => void, playOn: (() => void)|null}} on
 */
export function makeControls(on) {
  const glyph = (/** @type {keyof typeof SIGNS} */ name, /** @type {() => void} */ click, id = name) => {
    const one = button('', click, { id, class: 'glyph', 'aria-label': s(name), title: s(name) });
    one.append(sign(name));
    return one;
  };
  const toStart = glyph('to-start', on.start), back = glyph('step-back', on.back), forward = glyph('step-forward', on.forward), toEnd = glyph('to-end', on.end);
  const play = glyph('play', on.toggle, /** @type {any} */ ('play-pause'));
  const speed = el('select', { id: 'speed' }, ...SPEEDS.map((value) => el('option', { value, text: value === 'max' ? s('speed.max') : s('speed.each', { rate: value }) })));
  const kept = localStorage.getItem(KEPT) ?? '';
  speed.value = SPEEDS.includes(kept) ? kept : '2';
  speed.addEventListener('change', () => {
    localStorage.setItem(KEPT, speed.value);
    on.speed();
  });
  const slider = el('input', { id: 'slider', type: 'range', min: 0, max: 0, value: 0, step: 1, 'aria-label': s('slider') });
  slider.addEventListener('input', () => on.to(Number(slider.value)));
  const place = el('output', { class: 'study-at', for: 'slider' });
  const badge = el('span', { class: 'study-live', hidden: true });
  const copy = button(s('copy'), on.copy, { id: 'copy-position' });
  const playOn = button(s('play-on'), () => on.playOn?.(), { id: 'play-on', title: s('play-on-long'), hidden: on.playOn === null });
  const element = el('div', { class: 'study-controls', role: 'group', 'aria-label': s('controls') },
    el('div', { class: 'study-buttons' }, toStart, back, play, forward, toEnd, el('label', { class: 'study-speed' }, el('span', { text: s('speed') }), speed), badge),
    el('div', { class: 'study-slide' }, slider, place));
  const positionButtons = el('div', { class: 'study-position-buttons' }, copy, playOn);
  let shown = '';

  return {
    element, slider, positionButtons,
    /** Milliseconds from one frame to the next. */
    get wait() { return speed.value === 'max' ? 16 : 1000 / Number(speed.value); },
    /** @param {{at: number, last: number, playing: boolean, live: boolean, text: string}} state */
    renew({ at, last, playing, live, text }) {
      const kind = playing ? 'pause' : 'play';
      if (kind !== shown) play.replaceChildren(sign(kind));
      shown = kind;
      set(play, 'aria-label', s(kind));
      set(play, 'title', s(kind));
      play.disabled = last < 1 && !live;
      for (const node of [toStart, back]) set(node, 'aria-disabled', at <= 0 ? 'true' : null);
      for (const node of [forward, toEnd]) set(node, 'aria-disabled', at >= last ? 'true' : null);
      slider.max = String(Math.max(0, last));
      slider.value = String(Math.max(0, at));
      slider.disabled = last < 1;
      set(slider, 'aria-valuetext', at < 0 ? null : s('at-long', { at, last, text }));
      say(place, at < 0 ? '' : `${at} / ${last}`);
      badge.hidden = !live;
      say(badge, s(playing ? 'live' : 'live-paused'));
      badge.classList.toggle('still', !playing);
      copy.disabled = playOn.disabled = at < 0;
    },
  };
}
