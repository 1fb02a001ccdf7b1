// TCP connections whose bytes a test writes itself.
import { once } from 'node:events';
import net from 'node:net';
import { own } from './fixture.mjs';
import { patiently } from './patience.mjs';
import { binaryFrame, handshake } from './websocket.mjs';

/** Opens a connection to a port of loopback; its errors concern only who asks for them. */
export function openTcp(t, port, options = {}) {
  const socket = net.connect({ port, host: '127.0.0.1', ...options });
  socket.on('error', () => {});
  own(t, () => socket.destroy());
  return socket;
}

/** Opens a WebSocket that never answers what the relay asks: `send` sends a datagram, and `bytes` counts what comes. */
export async function openRawWebSocket(t, relay, options) {
  const socket = openTcp(t, relay.port, options);
  socket.write(handshake);
  await patiently(once(socket, 'data'), 'the handshake');
  const client = { socket, bytes: 0, send: (data) => socket.write(binaryFrame(data)) };
  socket.on('data', (data) => (client.bytes += data.length));
  return client;
}

/** Opens a connection, writes to it, and resolves with all that has come when it is closed. */
export async function replyTo(t, port, bytes, options) {
  const socket = openTcp(t, port, options);
  const parts = [];
  socket.on('data', (data) => parts.push(data));
  socket.write(bytes);
  await patiently(once(socket, 'close'), () => `the reply to ${String(bytes).slice(0, 100)}`);
  return Buffer.concat(parts).toString('latin1');
}
