// Floods of HTTP requests that never end, with honest players beside them.
import net from 'node:net';
import test from 'node:test';
import { startRig } from './hostile_rig.mjs';

/** Opens connections that have sent so much, from addresses 127.3.0.x in turn. */
async function crowd(t, relay, { count, addresses, text }) {
  const sockets = Array.from({ length: count }, (_, i) => {
    const localAddress = `127.3.0.${1 + (i % addresses)}`;
    const socket = net.connect({ port: relay.port, host: '127.0.0.1', localAddress });
    socket.on('error', () => {});
    socket.once('connect', () => socket.write(text));
    return socket;
  });
  t.after(() => sockets.forEach((socket) => socket.destroy()));
  await Promise.all(sockets.map((s) => new Promise((resolve) => s.once('ready', resolve))));
  return sockets;
}

test('half requests keep nobody waiting', async (t) => {
  const rig = await startRig(t, { rtcSessions: 2 });
  const text = 'GET / HTTP/1.1\r\n';
  const sockets = await crowd(t, rig.relay, { count: 400, addresses: 4, text });
  for (const rtc of [false, true]) await rig.newcomer({ rtc });
  sockets.forEach((socket) => socket.destroy());
  await rig.check();
});
