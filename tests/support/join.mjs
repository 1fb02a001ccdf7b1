// Players of the tests' own server, over the package's client.
import { connect, require } from './causeway.mjs';
import { messages } from './chat_schema.mjs';

export const { WebSocket } = require('ws');

/**
 * Connects a player to a place, which is what startSecureServer returns: over a WebSocket, unless the options differ.
 * `by` is the function that connects.
 */
export const join = async ({ url, server }, options = {}, by = connect) =>
  by(url, {
    token: options.token ?? (await server.token()),
    schema: messages,
    transports: ['websocket'],
    WebSocket,
    ...options,
  });
