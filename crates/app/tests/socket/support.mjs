// The official client, connected, with everything that it hears. A story is a file
// `*.test.mjs` beside this one.

import assert from "node:assert/strict";
import { once } from "node:events";

import { io } from "socket.io-client";

import { home, serve } from "./program.mjs";

export { home, serve };

/** Both transports, for stories that must not depend on which. */
export const ways = {
  websocket: ["websocket"],
  "polling, then upgraded": ["polling", "websocket"],
};

/** A client that is not connected yet. */
export function client(t, url, options = {}) {
  const socket = io(url, { forceNew: true, reconnectionDelay: 50, autoConnect: false, ...options });
  t.after(() => socket.disconnect());
  const heard = [];
  socket.onAny((event, data) => heard.push({ event, ...data }));
  return { socket, heard };
}

/** A client that must be let in, on the transport that it ends up with. */
export async function connected(t, url, options = {}) {
  const plenary = client(t, url, options);
  plenary.socket.connect();
  await connects(plenary);
  const { engine } = plenary.socket.io;
  const last = (options.transports ?? ["websocket"]).at(-1);
  if (engine.transport.name !== last) await once(engine, "upgrade");
  assert.equal(engine.transport.name, last);
  return plenary;
}

function connects({ socket }) {
  return new Promise((resolve, reject) => {
    socket.once("connect", resolve);
    socket.once("connect_error", reject);
  });
}

/** The words by which a client is refused. */
export async function refused(t, url, options = {}) {
  const plenary = client(t, url, options);
  plenary.socket.connect();
  const { message } = await connects(plenary).then(() => assert.fail("it was let in"), (error) => error);
  return message;
}

/** A command with an answer. */
export function says({ socket }, event, ...words) {
  return socket.timeout(30_000).emitWithAck(event, ...words);
}

/** Waits until something was heard that the test accepts; gives it. */
export function hears({ socket, heard }, is) {
  return new Promise((resolve, reject) => {
    const patience = setTimeout(() => {
      socket.offAny(look);
      reject(new Error(`it was not heard, but ${JSON.stringify(heard.slice(-5))}`));
    }, 30_000);
    function look() {
      const found = heard.find(is);
      if (!found) return;
      clearTimeout(patience);
      socket.offAny(look);
      resolve(found);
    }
    // After the one that writes down what is heard.
    socket.onAny(look);
    look();
  });
}

/** REST, on the same port. */
export async function rest(url, method, path, body) {
  const response = await fetch(`${url}/api${path}`, {
    method,
    headers: { "content-type": "application/json" },
    body: body && JSON.stringify(body),
  });
  const { success, data, error } = await response.json();
  assert(success, `${method} ${path}: ${JSON.stringify(error)}`);
  return data;
}
