// A page whose only way out is a proxy for WebSockets: one of them, and more when it stalls.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { openTransport } from '../../web/dist/core/index.js';
import { own } from '../support/fixture.mjs';
import { sleep, until } from '../support/patience.mjs';
import { assertStats, statsUntil } from '../support/relay.mjs';
import { startServed } from '../support/served.mjs';
import { startStrictProxy } from '../support/strict_proxy.mjs';
import { WebSocket } from '../support/websocket.mjs';

const FRAME_MS = 16;
const STALL_MS = 400;

async function play(t) {
  const { relay } = await startServed(t);
  const proxy = await startStrictProxy(t, relay.port);
  const transport = await openTransport(proxy.url, { transports: ['websocket'], WebSocket });
  own(t, () => transport.close());
  const echoed = new Set();
  transport.ondatagram = (data) => echoed.add(Buffer.from(data).toString());
  return { relay, proxy, transport, echoed };
}

test('a page plays behind a proxy that lets nothing but WebSockets through', async (t) => {
  const { proxy, transport, echoed } = await play(t);
  transport.send(Buffer.from('hello'));
  await until('the echo', () => echoed.has('hello'));
  assert.equal(transport.kind, 'websocket');
  assert.deepEqual(proxy.refused, []);
});

test('stalls bring more WebSockets, and one that stalls for good holds nothing up', async (t) => {
  const { relay, proxy, transport, echoed } = await play(t);
  const { connections } = proxy;
  let sent = 0;
  const timer = setInterval(() => transport.send(Buffer.from(`${sent++}`)), FRAME_MS);
  own(t, () => clearInterval(timer));

  for (let stalls = 0; (await relay.stats()).links_joined === 0; stalls++) {
    await sleep(2 * STALL_MS);
    connections[0].stall();
    await sleep(STALL_MS);
    connections[0].goOn();
  }
  await statsUntil(relay, ({ links_joined }) => links_joined === 4);

  const used = () => connections.slice(1).find(({ bytes }) => bytes > 2000);
  (await until('a subflow in use', used)).stall();
  const from = sent;
  await until('what was sent meanwhile', () => {
    for (let i = from; i < from + 100; i++) if (!echoed.has(`${i}`)) return false;
    return true;
  });
  transport.close();
  await statsUntil(relay, ({ sessions_open }) => sessions_open === 0);
  assertStats(await relay.stats(), { sessions_opened: 1, sessions_unlinked: 0 });
});
