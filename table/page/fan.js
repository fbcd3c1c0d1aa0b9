// Where the cards of the fan lie: one row in a slight arc, or two straight rows where the screen is narrow.

const GAP_BELOW = 30;

/**
 * Lay out `count` cards in a box.
 * @param {HTMLElement} box @param {number} count
 */
export function fanLayout(box, count) {
  const width = Math.max(200, box.clientWidth);
  const card = Number.parseFloat(getComputedStyle(box).getPropertyValue('--hand-card')) || 72;
  const tall = card * 1.4;
  const wanted = count > 1 ? (width - card) / (count - 1) : card;
  const rows = wanted < 32 && width < 620 && count > 7 ? 2 : 1;
  const perRow = Math.ceil(count / rows);
  const step = Math.min(card * 0.78, perRow > 1 ? (width - card - 4) / (perRow - 1) : card);
  const arc = rows === 1 && width > 500;
  const rowHeight = tall + GAP_BELOW;
  const inRow = (/** @type {number} */ row) => (row < rows - 1 ? perRow : count - perRow * (rows - 1));
  const left = (/** @type {number} */ row) => (width - (inRow(row) - 1) * step - card) / 2;
  const dip = 16;

  /** @param {number} i */
  function at(i) {
    const row = Math.floor(i / perRow) || 0, column = i - row * perRow;
    const middle = (inRow(row) - 1) / 2;
    const off = middle > 0 ? (column - middle) / Math.max(middle, 6) : 0;
    return {
      x: left(row) + column * step, y: row * rowHeight + (arc ? 6 + dip * off * off : 4), turn: arc ? 5 * off : 0,
    };
  }

  return {
    card, at, height: rows * rowHeight + (arc ? dip + 6 : 4),
    /** The place that a card let go at a point would get. @param {number} x @param {number} y */
    indexAt(x, y) {
      const row = rows === 2 && y > rowHeight ? 1 : 0;
      const column = Math.max(0, Math.min(inRow(row) - 1, Math.round((x - left(row) - card / 2) / step)));
      return Math.min(count - 1, row * perRow + column);
    },
    /** Lines under the cards from..to (exclusive), one for each row that they lie in. @param {number} from @param {number} to */
    spans(from, to) {
      const found = [];
      for (let row = 0; row < rows; row += 1) {
        const first = Math.max(from, row * perRow), last = Math.min(to, row * perRow + inRow(row)) - 1;
        if (last < first) continue;
        const a = at(first), b = at(last);
        const next = last + 1 < row * perRow + inRow(row);
        found.push({
          left: a.x + 3, width: b.x - a.x + (next ? Math.min(step, card) : card) - 6, top: Math.max(a.y, b.y, (a.y + b.y) / 2) + tall - 2, turn: arc ? (a.turn + b.turn) / 2 : 0,
        });
      }
      return found;
    },
  };
}
