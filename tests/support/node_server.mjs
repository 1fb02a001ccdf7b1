// A server on Node, and clients that reach it over UDP.
import { connectUdp, listen } from '../../web/dist/server/index.js';
import { PROTOCOL_ID, messages } from './chat_schema.mjs';
import { own } from './fixture.mjs';
import { next } from './patience.mjs';

export * from '../../web/dist/server/index.js';
export { PROTOCOL_ID, messages };

/** Starts a server for the messages of the chat, which is closed when the test is over. */
export async function startServer(t, options = {}) {
  const server = await listen({ protocolId: PROTOCOL_ID, schema: messages, ...options });
  own(t, () => server.close());
  return server;
}

/** Resolves with the next event of this type. */
export const nextEvent = async (target, type) => (await next(target, type))[0];

/** Starts a bot of the server, which leaves when the test is over; returns it and its client on the server. */
export async function startBot(t, server, { clientId = 1n, ...options } = {}) {
  const connecting = nextEvent(server, 'connect');
  const bot = await connectUdp({
    token: () => server.generateConnectToken({ clientId, timeoutSeconds: 5 }),
    schema: messages,
    ...options,
  });
  own(t, () => bot.disconnect());
  const { client } = await connecting;
  return { bot, client };
}

/** Collects what a bot takes from now on. */
export function received(bot) {
  const values = [];
  bot.addEventListener('message', ({ message }) => values.push(message.value));
  return values;
}
