// A server on Node, and clients that reach it over UDP.
import { createSocket } from 'node:dgram';
import { once } from 'node:events';
import { setTimeout as sleep } from 'node:timers/promises';
import { listen } from '../../web/dist/server/index.js';
import { Client, loadCore } from './causeway.mjs';
import { PROTOCOL_ID, messages } from './chat_schema.mjs';

export * from '../../web/dist/server/index.js';
export { PROTOCOL_ID, messages };

const PATIENCE_MS = 30_000;
const seconds = () => performance.now() / 1000;

/** A server for the messages of the chat, closed when the test is over. */
export async function startServer(t, options = {}) {
  const server = await listen({ protocolId: PROTOCOL_ID, schema: messages, ...options });
  t.after(() => server.close());
  return server;
}

/** Waits until it is so. */
export async function until(what) {
  const end = performance.now() + PATIENCE_MS;
  while (!what()) {
    if (performance.now() > end) throw new Error(`in vain: ${what}`);
    await sleep(5);
  }
}

/** The next event of this type. */
export const next = (target, type) =>
  once(target, type, { signal: AbortSignal.timeout(PATIENCE_MS) }).then(([event]) => event);

/** A client of the package on a UDP socket: `received` has the values of the messages that have arrived. */
export async function startClient(t, server, options = {}) {
  const client = new Client(await loadCore(), options.schema ?? messages, options);
  const socket = createSocket('udp4');
  const received = [];
  const take = () => {
    for (let event = client.next(); event; event = client.next())
      if (event.type === 'message') received.push(event.message.value);
  };
  const transmit = () => {
    const now = seconds();
    for (let out = client.transmit(now); out; out = client.transmit(now))
      socket.send(out, server.port, '127.0.0.1');
  };
  socket.on('message', (datagram) => {
    client.receive(new Uint8Array(datagram), seconds());
    take();
  });
  const timer = setInterval(() => {
    client.update(seconds());
    transmit();
    take();
  }, 16);
  t.after(() => {
    clearInterval(timer);
    socket.close();
  });
  client.connect(options.token ?? (await server.generateConnectToken({ clientId: 1n })), seconds());
  return {
    client,
    received,
    send: (channel, type, value) => client.send(channel, type, value, seconds()),
    becomes: (state) => until(() => client.state === state),
    leave: () => {
      client.disconnect();
      transmit();
    },
  };
}
