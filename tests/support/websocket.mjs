// WebSockets to the relay, and the bytes of those that a test writes itself.
import { own } from './fixture.mjs';
import { require } from './packages.mjs';
import { patiently } from './patience.mjs';

export const WebSocket = require('ws');

/** The request that makes a connection a WebSocket, for tests that write its bytes themselves. */
export const handshake = [
  'GET / HTTP/1.1',
  'Host: 127.0.0.1',
  'Upgrade: websocket',
  'Connection: Upgrade',
  'Sec-WebSocket-Version: 13',
  'Sec-WebSocket-Key: AAAAAAAAAAAAAAAAAAAAAA==',
  'Sec-WebSocket-Protocol: causeway.v1',
  '\r\n',
].join('\r\n');

/** Returns a datagram as a browser's frame, masked with zeros. */
export function binaryFrame(data) {
  const size = data.length < 126 ? [0x80 | data.length] : [0xfe, data.length >> 8, data.length];
  return Buffer.concat([Buffer.of(0x82, ...size, 0, 0, 0, 0), data]);
}

/** Opens a WebSocket to the relay whose messages are kept. */
export async function connect(
  t,
  relay,
  { protocols = ['causeway.v1'], scheme = 'ws', host = '127.0.0.1', ...options } = {},
) {
  const socket = new WebSocket(`${scheme}://${host}:${relay.port}/`, protocols, {
    perMessageDeflate: true,
    ...options,
  });
  const messages = [];
  const waiting = [];
  socket.on('message', (data, binary) => {
    messages.push({ data, binary });
    while (waiting.length > 0 && messages.length >= waiting[0].count) waiting.shift().resolve();
  });
  socket.on('error', () => {});
  own(t, () => socket.terminate());
  const closed = new Promise((resolve) => {
    socket.once('close', (code, reason) => resolve({ code, reason: reason.toString() }));
  });
  await patiently(
    new Promise((resolve, reject) => {
      socket.once('open', resolve);
      socket.once('unexpected-response', (_, response) => {
        reject(
          Object.assign(new Error(`HTTP ${response.statusCode}`), { status: response.statusCode }),
        );
      });
      socket.once('error', reject);
    }),
    'the WebSocket to open',
  );
  const received = (count) =>
    patiently(
      messages.length >= count
        ? Promise.resolve()
        : new Promise((resolve) => {
            waiting.push({ count, resolve });
            waiting.sort((a, b) => a.count - b.count);
          }),
      `message ${count}; ${messages.length} have come`,
    );
  return {
    socket,
    messages,
    send: (data) => socket.send(data),
    close: (code) => socket.close(code),
    closed: () => patiently(closed, 'the close of the WebSocket'),
    /** Resolves when `count` messages have come in all. */
    received,
    /** Sends a text or a datagram, and resolves when one more message has come. */
    async echo(data) {
      const count = messages.length + 1;
      socket.send(Buffer.from(data));
      await received(count);
    },
  };
}
