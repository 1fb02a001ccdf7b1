// A server on Node, and clients that reach it over UDP.
import { once } from 'node:events';
import { setTimeout as sleep } from 'node:timers/promises';
import { connectUdp, listen } from '../../web/dist/server/index.js';
import { PROTOCOL_ID, messages } from './chat_schema.mjs';
import { PATIENCE_MS } from './patience.mjs';

export * from '../../web/dist/server/index.js';
export { PROTOCOL_ID, messages };

/** Starts a server for the messages of the chat, which is closed when the test is over. */
export async function startServer(t, options = {}) {
  const server = await listen({ protocolId: PROTOCOL_ID, schema: messages, ...options });
  t.after(() => server.close());
  return server;
}

/** Waits until the condition is true. */
export async function until(what) {
  const end = performance.now() + PATIENCE_MS;
  while (!what()) {
    if (performance.now() > end) throw new Error(`in vain: ${what}`);
    await sleep(5);
  }
}

/** Resolves with the next event of this type. */
export const next = (target, type) =>
  once(target, type, { signal: AbortSignal.timeout(PATIENCE_MS) }).then(([event]) => event);

/** Starts a bot of the server, which leaves when the test is over; returns it and its client on the server. */
export async function startBot(t, server, { clientId = 1n, ...options } = {}) {
  const connecting = next(server, 'connect');
  const bot = await connectUdp({
    token: () => server.generateConnectToken({ clientId }),
    schema: messages,
    ...options,
  });
  t.after(() => bot.disconnect());
  const { client } = await connecting;
  return { bot, client };
}

/** Collects what a bot takes from now on. */
export function received(bot) {
  const values = [];
  bot.addEventListener('message', ({ message }) => values.push(message.value));
  return values;
}
