// What goes to the server and comes back: requests with the person's token, and the table's WebSocket, which connects again by itself.

const TOKEN = 'jolly.token';
/** Close codes after which there is no point in trying again. */
const FINAL = new Set([4403, 4404]);

/** An answer that says no. */
export class ApiError extends Error {
  /** @param {number} status @param {string} code @param {string} reason */
  constructor(status, code, reason) {
    super(reason);
    this.status = status;
    this.code = code;
  }
}

/** The token of the person at this browser, or null. */
export function token() {
  return localStorage.getItem(TOKEN);
}

/** Keep a token; null forgets it. @param {string|null} value */
export function keepToken(value) {
  if (value === null) localStorage.removeItem(TOKEN);
  else localStorage.setItem(TOKEN, value);
}

/**
 * Ask the server and return its JSON; throws ApiError.
 * @param {string} method @param {string} path @param {any} [body] @returns {Promise<any>}
 */
export async function api(method, path, body) {
  /** @type {Record<string, string>} */
  const headers = {};
  const mine = token();
  if (mine) headers.Authorization = `Bearer ${mine}`;
  if (method !== 'GET') headers['Content-Type'] = 'application/json';
  let answer;
  try {
    answer = await fetch(path, { method, headers, body: method === 'GET' ? undefined : JSON.stringify(body ?? {}) });
  } catch {
    throw new ApiError(0, 'offline', 'The server does not answer.');
  }
  const data = await answer.json().catch(() => null);
  if (!answer.ok) throw new ApiError(answer.status, data?.code ?? 'http', data?.reason ?? answer.statusText);
  return data;
}

/**
 * Connect to a table. Handlers by message type (view, chat, chats, refused, hint), and `lost()`, `back()`, `ended(code, reason)`.
 * @param {string} table @param {Record<string, (message: any) => void>} handlers @param {string|null} [invite]
 * @returns {{send: (message: any) => boolean, close: () => void}}
 */
export function connect(table, handlers, invite = null) {
  /** @type {WebSocket|null} */
  let socket = null;
  let tries = 0;
  let heard = 0;
  let over = false;
  /** @type {any} */
  let timer = 0;

  function begin() {
    const scheme = location.protocol === 'https:' ? 'wss' : 'ws';
    const mine = new WebSocket(`${scheme}://${location.host}/ws/${encodeURIComponent(table)}`);
    socket = mine;
    mine.onopen = () => {
      heard = Date.now();
      mine.send(JSON.stringify({ type: 'hello', token: token(), invite }));
    };
    mine.onmessage = (event) => {
      heard = Date.now();
      const message = JSON.parse(event.data);
      if (tries > 0) handlers.back?.(null);
      tries = 0;
      handlers[message.type]?.(message);
    };
    mine.onclose = (event) => {
      if (over || socket !== mine) return;
      if (FINAL.has(event.code)) {
        over = true;
        handlers.ended?.({ code: event.code, reason: event.reason });
        return;
      }
      handlers.lost?.(null);
      const wait = Math.min(10, 2 ** tries);
      tries += 1;
      timer = setTimeout(begin, wait * 1000);
    };
  }

  const pulse = setInterval(() => {
    if (socket?.readyState !== WebSocket.OPEN) return;
    if (Date.now() - heard > 60_000) socket.close();
    else if (Date.now() - heard > 20_000) socket.send('{"type":"ping"}');
  }, 10_000);
  begin();
  return {
    send(message) {
      if (socket?.readyState !== WebSocket.OPEN) return false;
      socket.send(JSON.stringify(message));
      return true;
    },
    close() {
      over = true;
      clearInterval(pulse);
      clearTimeout(timer);
      socket?.close();
    },
  };
}
