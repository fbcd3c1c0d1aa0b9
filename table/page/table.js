// The screen of one table: connects, and lets board, hand, own turn, result and column work together.

import { decode, told, words } from './actions.js';
import { makeBoard } from './board.js';
import { announce, button, dialog, el, say, set, toast } from './dom.js';
import { makeHand } from './hand.js';
import { shortcuts, showKeys } from './keys.js';
import { fly } from './motion.js';
import { api, connect, token } from './net.js';
import { failure, me, showPlayer } from './people.js';
import { makePlay } from './play.js';
import { renewMark, turnMark } from './players.js';
import { makeRound } from './round.js';
import { makeSide } from './side.js';
import { minus, t } from './text.js';
import { waitingRoom } from './waiting.js';

/**
 * Open a table in an element; returns what closes it.
 * @param {HTMLElement} root @param {string} id @param {string|null} invite
 */
export function openTable(root, id, invite) {
  /** @type {any} */
  let view = null;
  let told_ = '';
  const board = makeBoard({
    stock: () => play.drawStock(), take: (count) => play.take(count), fit: (action) => play.fit(action), leaveArrows: () => hand.focusItem(hand.focused ?? undefined), info,
  });
  const hand = makeHand({
    press: (item, byKey) => play.press(item, byKey), group: (group) => play.pressGroup(group), pick: (item) => play.pick(item),
    drop: (item, x, y) => play.drop(item, x, y), drag: (item, x, y) => play.dragging(item, x, y),
    up: () => { if (!board.focusArrow()) toast(t('not.fits-nowhere')); },
  });
  const side = makeSide({ info, invite: () => room.invite(), leave, chat: (text) => { if (!line.send({ type: 'chat', text })) toast(t('net.lost'), 'bad'); } });
  const round = makeRound({
    goOn: () => line.send({ type: 'continue' }), record: download, again: () => { location.hash = `#/study/table/${id}`; }, fresh: () => { location.hash = '#/'; },
  });
  const room = waitingRoom(id, invite, () => { line.close(); line = begin(); });
  const lost = el('p', { class: 'lost', role: 'alert', hidden: true, text: t('net.lost') });
  const hint = el('p', { class: 'hint-box', hidden: true });
  const mark = turnMark();
  const lay = button(t('lay'), () => play.layDown(), { id: 'lay-down', class: 'main' });
  const tools = el('div', { class: 'tools', role: 'toolbar', 'aria-label': t('tools.label') }, lay,
    button(t('sort.suit'), hand.sortSuit, { id: 'sort-suit', title: `${t('sort.suit-long')} (S)` }), button(t('sort.rank'), hand.sortRank, { id: 'sort-rank', title: `${t('sort.rank-long')} (R)` }),
    button(t('arrange'), hand.arrange, { id: 'arrange', title: `${t('arrange.long')} (A)` }), button(t('hint'), ask, { id: 'hint', title: `${t('hint.long')} (H)` }),
    button('?', showKeys, { id: 'keys', 'aria-label': t('keys.title'), title: t('keys.title') }));
  const mine = el('section', { class: 'player me', hidden: true }, hint, hand.element, tools);
  hand.element.querySelector('.hand-label')?.prepend(mark, ' ');
  board.own.append(mine);
  board.middle.append(room.element);
  board.element.append(lost, round.element);
  root.append(el('div', { class: 'table-view' }, board.element, side.element));

  const play = makePlay({ hand, board, send: (message) => line.send(message), changed: refresh });
  const removeKeys = shortcuts({
    d: () => play.drawStock(), l: () => play.layDown(), s: hand.sortSuit, r: hand.sortRank, a: hand.arrange, h: ask, '?': showKeys,
  }, () => view?.you !== null && view?.state === 'playing');
  let line = begin();

  function begin() {
    return connect(id, {
      view: show, chats: (message) => side.chats(message.lines),
      chat: (message) => {
        side.chat(message);
        announce(`${message.name}: ${message.text}`);
      },
      refused: (message) => {
        toast(failure(message), 'bad');
        play.refused();
      },
      hint: showHint,
      lost: () => { lost.hidden = false; },
      back: () => { lost.hidden = true; play.refused(); },
      ended: (end) => {
        root.replaceChildren(el('div', { class: 'ended' }, el('p', { text: end.code === 4404 ? t('refused.no-table') : t('net.not-allowed', { reason: end.reason }) }), el('p', {}, el('a', { href: '#/', text: t('home.back') }))));
      },
    }, invite);
  }

  /** @param {any} next */
  function show(next) {
    const old = view;
    const places = new Map(hand.items.map((item) => [item.card, { item, box: hand.nodeOf(item)?.getBoundingClientRect() ?? board.middle.getBoundingClientRect() }]));
    for (const item of hand.items) if (item.leaving) places.set(item.card, { item, box: (item.staged ? document.getElementById('staged') : hand.nodeOf(item))?.getBoundingClientRect() ?? board.own.getBoundingClientRect() });
    const sources = board.sources(old);
    view = next;
    board.draw(view, (card) => places.get(card)?.box ?? null);
    side.draw(view);
    round.draw(view);
    room.draw(view);
    const sitting = view.you !== null && view.players[view.you]?.hand;
    mine.hidden = !sitting;
    if (sitting) {
      const fresh = hand.setCards(view.players[view.you].hand, `jolly.order.${id}`, view.round);
      play.setView(view);
      refresh();
      const dealt = fresh.length === hand.items.length;
      fresh.forEach((item, i) => {
        const node = hand.nodeOf(item);
        if (node && old && (dealt || old.version !== view.version)) fly(node, sources(item.card), { delay: dealt ? i * 35 : 0 });
      });
    }
    if (!old || old.version !== view.version) { hint.hidden = true; hand.setMode(play.canPlay()); }
    speak(old);
  }

  /** Draw again what depends on the own choices. */
  function refresh() {
    if (!view || mine.hidden) return;
    const me_ = view.players[view.you];
    set(mine, 'data-seat', view.you);
    mine.classList.toggle('my-turn', play.myTurn());
    mine.classList.toggle('busy', play.busy);
    renewMark(mark, view, view.you);
    hand.setName(`${me_.name} · ${t('player.total', { n: minus(me_.total) })} · ${t('player.laid', { n: me_.laid })}`);
    hand.setMode(play.canPlay());
    hand.render();
    play.renderStage();
    const { points, ok } = play.plan();
    lay.disabled = !ok;
    say(lay, ok || points > 0 ? t('lay.points', { n: points }) : t('lay'));
    const active = hand.items.find((item) => hand.nodeOf(item) === document.activeElement);
    if (active) play.pick(active);
  }

  /** Tell what was played and whose turn it is. @param {any} old */
  function speak(old) {
    if (view.last && old && old.version !== view.version && view.last.seat !== view.you) announce(told(view.last, view));
    const turn = `${view.round}.${view.turn}.${view.phase}`;
    if (turn === told_ || view.state !== 'playing') return;
    told_ = turn;
    if (play.myTurn()) announce(t(view.phase === 'draw' ? 'turn.draw' : 'turn.play'));
    document.title = play.myTurn() ? `! ${t('title')}` : t('title');
  }

  function ask() {
    if (!play.myTurn()) toast(t('not.your-turn'));
    else if (line.send({ type: 'hint', agent: null })) {
      hint.hidden = false;
      say(hint, t('hint.thinking'));
    }
  }

  /** @param {any} message */
  function showHint(message) {
    if (!view || message.version !== view.version) return;
    const { thought } = message;
    hint.hidden = false;
    if (thought.action === null) {
      say(hint, t('hint.none'));
      return;
    }
    say(hint, t('hint.says', { name: thought.agent, what: words(thought.action, view) }));
    announce(hint.textContent ?? '');
    board.hint(thought.action);
    const move = decode(thought.action);
    hand.setMode(play.canPlay(), move.kind === 'discard' ? move.card ?? null : board.cardOf(thought.action));
    hand.render();
  }

  /** @param {number} seat */
  function info(seat) {
    const player = view.players[seat];
    if (player.player) showPlayer(player.player, player.name);
  }

  async function leave() {
    if (view?.state === 'waiting' && view.you !== null) {
      try {
        await api('POST', `/api/tables/${id}/leave`);
      } catch (error) {
        toast(failure(error), 'bad');
      }
    } else if (view?.state === 'playing' && view.you !== null) {
      dialog(t('leave.title'), (close) => [el('p', { text: t('leave.about') }), el('div', { class: 'buttons' },
        button(t('leave.yes'), () => { close(); location.hash = '#/'; }, { class: 'main' }), button(t('leave.no'), close))]);
      return;
    }
    location.hash = '#/';
  }

  async function download() {
    try {
      const record = await api('GET', `/api/tables/${id}/record`);
      const url = URL.createObjectURL(new Blob([JSON.stringify(record)], { type: 'application/json' }));
      el('a', { href: url, download: `jolly-${id}.json` }).click();
      setTimeout(() => URL.revokeObjectURL(url), 1000);
    } catch (error) {
      toast(failure(error), 'bad');
    }
  }

  return () => {
    removeKeys();
    side.close();
    line.close();
    document.title = t('title');
  };
}

/** Make sure that somebody who comes by a link has a name. */
export async function known() {
  if (!token()) await me();
  return true;
}

