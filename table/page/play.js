// The own turn: drawing, staging melds, laying down all at once, attaching, swapping, discarding.

import { DISCARD, DRAW, fitsOf } from './actions.js';
import { JOKER, cardName } from './cards.js';
import { announce, button, el, say, set, sync, toast } from './dom.js';
import { over } from './drag.js';
import { laidCard } from './meldview.js';
import { meldOf } from './melds.js';
import { t } from './text.js';

/** @typedef {import('./hand.js').Item} Item @typedef {import('./hand.js').Group} Group */

/**
 * Make what plays for the person.
 * @param {{hand: ReturnType<typeof import('./hand.js').makeHand>, board: ReturnType<typeof import('./board.js').makeBoard>, send: (message: any) => boolean, changed: () => void}} with_
 */
export function makePlay({ hand, board, send, changed }) {
  /** @type {any} */
  let view = null;
  /** @type {Group[]} */
  let staged = [];
  /** @type {number|null} the version that something was sent at and not answered yet */
  let sentAt = null;
  let asked = '', askedAt = 0;
  const sum = el('p', { id: 'opening-sum' });
  const melds = el('div', { class: 'staged-melds' });
  const stage = el('div', { id: 'staged', hidden: true }, sum, melds);
  board.middle.append(stage);

  const myTurn = () => view?.state === 'playing' && view.you !== null && view.seat === view.you;
  const inPhase = (/** @type {string} */ phase) => myTurn() && view.phase === phase;
  const opened = () => view.players[view.you].opened;
  const need = () => (opened() ? 0 : view.opening_points - view.opening_laid);
  const pointsOf = (/** @type {Group[]} */ groups) => groups.reduce((all, group) => all + group.meld.points, 0);

  /** Take a new view. @param {any} next */
  function setView(next) {
    if (sentAt !== null && next.version !== sentAt) sentAt = null;
    const turnChanged = !view || view.round !== next.round || view.turn !== next.turn;
    view = next;
    if (turnChanged || !inPhase('play')) unstageAll();
    if (staged.some((group) => group.items.some((item) => !hand.items.includes(item)))) unstageAll();
    renderStage();
  }

  function unstageAll() {
    for (const group of staged) for (const item of group.items) item.staged = false;
    staged = [];
  }

  /** Send actions that were decided on in this view. @param {number[]} actions @param {Item[]} played */
  function act(actions, played = []) {
    if (sentAt !== null) return;
    if (!send({ type: 'act', actions, at: view.version })) {
      toast(t('net.lost'), 'bad');
      return;
    }
    sentAt = view.version;
    for (const item of played) item.leaving = true;
    board.showFits([]);
    changed();
  }

  /** Ask once more before something that is seldom meant; true the second time. @param {string} what @param {string} words */
  function sure(what, words) {
    const again = asked === what && Date.now() - askedAt < 5000;
    asked = again ? '' : what;
    askedAt = Date.now();
    if (!again) toast(words);
    return again;
  }

  function drawStock() {
    if (!myTurn()) toast(t('not.your-turn'));
    else if (view.phase !== 'draw') toast(t('not.drawn-already'));
    else if (!view.legal.includes(DRAW)) toast(t('not.stock-empty'));
    else act([DRAW]);
  }

  /** @param {number} count */
  function take(count) {
    if (!myTurn()) toast(t('not.your-turn'));
    else if (view.phase !== 'draw') toast(t('not.drawn-already'));
    else if (!opened()) toast(t('not.opened', { n: view.opening_points }));
    else if (!view.legal.includes(count)) toast(t('not.too-many', { n: view.hand_limit }));
    else act([count]);
  }

  /** @param {Item} item */
  function discard(item) {
    if (!mayPlay()) return;
    if (!view.legal.includes(DISCARD + item.card)) toast(t('not.discard-now'));
    else if (staged.length === 0 || sure('discard-staged', t('sure.staged'))) act([DISCARD + item.card], [item]);
  }

  function mayPlay() {
    if (inPhase('play')) return sentAt === null;
    toast(t(inPhase('draw') ? 'not.draw-first' : 'not.your-turn'));
    return false;
  }

  /** A card was pressed: it is discarded, but for jokers. @param {Item} item @param {boolean} byKey */
  function press(item, byKey) {
    if (!myTurn()) return;
    if (!mayPlay()) return;
    if (item.card !== JOKER) discard(item);
    else if (!byKey) toast(t('joker.drag'));
    else if (sure('joker', t('joker.sure'))) discard(item);
  }

  /** A blue line was pressed: before the opening the meld is staged, after it laid. @param {Group} group */
  function pressGroup(group) {
    if (!mayPlay()) return;
    if (!opened()) stageGroup(group);
    else lay(leaveOne([group]));
  }

  /** @param {Group} group */
  function stageGroup(group) {
    for (const item of group.items) item.staged = true;
    staged.push(group);
    announce(t('staged.now', { n: pointsOf(staged), need: need() }));
    changed();
  }

  /** @param {Group} group */
  function unstage(group) {
    for (const item of group.items) item.staged = false;
    staged = staged.filter((other) => other !== group);
    changed();
  }

  /** Return what "Lay down" would lay. */
  function plan() {
    if (!inPhase('play') || sentAt !== null) return { groups: [], points: 0, ok: false };
    const alone = !opened() && staged.length > 0 && pointsOf(staged) >= need();
    const groups = leaveOne(alone ? staged : [...staged, ...hand.groups()]);
    const points = pointsOf(groups);
    return { groups, points, ok: groups.length > 0 && points >= need() };
  }

  /** Shorten what would leave no card to discard. @param {Group[]} groups @returns {Group[]} */
  function leaveOne(groups) {
    const used = groups.reduce((all, group) => all + group.items.length, 0);
    if (used < hand.items.length) return groups;
    let best = groups.slice(0, -1);
    groups.forEach((group, i) => {
      for (const items of [group.items.slice(0, -1), group.items.slice(1)]) {
        const meld = meldOf(items.map((item) => item.card));
        const other = meld && groups.map((one, j) => (i === j ? { items, meld } : one));
        if (other && pointsOf(other) > pointsOf(best)) best = other;
      }
    });
    return best;
  }

  function layDown() {
    if (!mayPlay()) return;
    const { groups, points, ok } = plan();
    if (ok) lay(groups);
    else if (groups.length === 0) toast(t('not.no-meld'));
    else toast(t('not.enough', { n: points, need: need() }));
  }

  /** @param {Group[]} groups */
  function lay(groups) {
    if (groups.length === 0) toast(t('not.last-card'));
    else act(groups.flatMap((group, i) => group.meld.actions(view.melds.length + i)), groups.flatMap((group) => group.items));
  }

  /** An arrow was chosen: play the card that has it. @param {number} action */
  function fit(action) {
    if (!mayPlay() || !view.legal.includes(action)) return;
    const card = board.cardOf(action);
    const item = hand.dragging ? null : hand.focused;
    const played = item?.card === card ? item : hand.visible().find((other) => other.card === card);
    hand.focusItem(hand.focused ?? undefined);
    act([action], played ? [played] : []);
  }

  /** A card was let go over the table. @param {Item} item @param {number} x @param {number} y */
  function drop(item, x, y) {
    board.lightRow(false);
    const action = board.fitAt(x, y);
    if (action !== null && inPhase('play')) act([action], [item]);
    else if (board.overRow(x, y)) discard(item);
    else if (board.overMiddle(x, y) && myTurn()) dropInMiddle(item, x, y);
    return true;
  }

  /** @param {Item} item @param {number} x @param {number} y */
  function dropInMiddle(item, x, y) {
    const at = [...melds.children].findIndex((node) => over(node, x, y, 6));
    if (at >= 0 && inPhase('play')) {
      const group = staged[at];
      const box = melds.children[at].getBoundingClientRect();
      const items = x < box.left + box.width / 2 ? [item, ...group.items] : [...group.items, item];
      const meld = meldOf(items.map((one) => one.card));
      if (!meld) return toast(t('not.fits', { card: cardName(item.card) }));
      item.staged = true;
      staged[at] = { items, meld };
      return changed();
    }
    const group = hand.groups().find((one) => one.items.includes(item));
    if (group) pressGroup(group);
    else if (mayPlay()) toast(t('not.fits', { card: cardName(item.card) }));
    return undefined;
  }

  /** Show where a card fits. @param {Item|null} item */
  function pick(item) {
    board.showFits(item && inPhase('play') && sentAt === null ? fitsOf(item.card, view) : []);
  }

  /** @param {Item} item @param {number} x @param {number} y */
  function dragging(item, x, y) {
    board.scrollNear(y);
    board.fitAt(x, y);
    board.lightRow(inPhase('play') && view.legal.includes(DISCARD + item.card) && board.overRow(x, y));
  }

  function renderStage() {
    const show = inPhase('play') && !opened() && (staged.length > 0 || view.opening_laid > 0);
    stage.hidden = !show;
    if (show) say(sum, t('staged.sum', { n: view.opening_laid + pointsOf(staged), need: view.opening_points }));
    sum.classList.toggle('enough', show && pointsOf(staged) >= need());
    sync(melds, staged, (group) => group.items.map((item) => item.key).join(),
      (group) => {
        const node = button('', () => unstage(group), { class: 'meld staged-meld' });
        node.append(el('div', { class: 'meld-cards' }, ...group.meld.cards.map(([card, stands]) => laidCard(card, stands, group.meld.set ? group.meld.base : null, null))));
        return node;
      },
      (node, group) => {
        const label = t('staged.back', { cards: group.meld.cards.map(([card, stands]) => cardName(card, stands, group.meld.base)).join(', '), n: group.meld.points });
        set(node, 'aria-label', label);
        set(node, 'title', label);
      });
  }

  return {
    setView, drawStock, take, press, discard, pressGroup, layDown, fit, drop, pick, dragging, plan, renderStage,
    /** The server said no. */
    refused() {
      sentAt = null;
      for (const item of hand.items) item.leaving = false;
      changed();
    },
    get busy() { return sentAt !== null; },
    get staged() { return staged.length; },
    canPlay: () => inPhase('play') && sentAt === null,
    myTurn,
  };
}
