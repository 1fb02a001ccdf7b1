// A game server on Node that takes browsers itself, on an HTTP server of the test.
import { randomBytes } from 'node:crypto';
import { createServer } from 'node:http';
import { connect } from './causeway.mjs';
import { own } from './fixture.mjs';
import { messages, nextEvent, startServer } from './node_server.mjs';
import { WebSocket, connect as connectSocket } from './websocket.mjs';

/** Starts both; the options are those of `listen`. */
export async function startOneProcess(t, options = {}) {
  const http = createServer((_, response) => response.writeHead(404).end());
  const server = await startServer(t, { server: http, ...options });
  await new Promise((listening) => http.listen(0, '127.0.0.1', listening));
  own(t, () => {
    http.closeAllConnections();
    http.close();
  });
  const { port } = http.address();
  return { http, server, port, url: `http://127.0.0.1:${port}` };
}

/** Connects a player of the package, as a page does, which leaves when the test is over. */
export async function play(t, { url, server }, { clientId = 1n, ...options } = {}) {
  const client = await connect(url, {
    token: () => server.generateConnectToken({ clientId }),
    schema: messages,
    transports: ['websocket'],
    WebSocket,
    ...options,
  });
  own(t, () => client.disconnect());
  return client;
}

/** Connects a player; returns it and its client on the server. */
export async function join(t, place, options) {
  const connecting = nextEvent(place.server, 'connect');
  const player = await play(t, place, options);
  return { player, client: (await connecting).client };
}

/** Makes the key of a session as a page does. */
export const newKey = () => randomBytes(16).toString('base64url');

/** Opens a WebSocket for the session with this key. */
export const connectAs = (t, place, key, options = {}) =>
  connectSocket(t, place, { protocols: ['causeway.v1', `causeway.session.${key}`], ...options });
