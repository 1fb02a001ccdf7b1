// A page that goes away, as far as Node can show it: the event comes from a stand-in for the page.
import assert from 'node:assert/strict';
import { getEventListeners } from 'node:events';
import { afterEach, beforeEach, test } from 'node:test';
import { WebRtcTransport, WebSocketTransport, openTransport } from '../support/causeway.mjs';
import { packetType, startSecureServer, typeOf } from '../support/secure.mjs';
import { WebSocket, join as joinPlace } from '../support/join.mjs';
import { RTCPeerConnection } from '../support/wrtc.mjs';
import { until } from '../support/patience.mjs';

const HOUR = 3600;
let page;

beforeEach(() => {
  page = new EventTarget();
  for (const name of ['addEventListener', 'removeEventListener'])
    globalThis[name] = page[name].bind(page);
});

afterEach(() => {
  delete globalThis.addEventListener;
  delete globalThis.removeEventListener;
});

const listeners = () => getEventListeners(page, 'pagehide').length;
const join = async (place, options) =>
  joinPlace(place, { token: await place.server.token({ timeoutSeconds: HOUR }), ...options });

/** Resolves when the only place of the server is free, which takes an hour if the client says nothing. */
const placeIsFree = (place) =>
  until('the place is free', async () => {
    try {
      return await join(place);
    } catch (error) {
      assert.equal(error.code, 'DENIED');
      return undefined;
    }
  });

test('a page that goes disconnects its client', async (t) => {
  const small = await startSecureServer(t, { players: 1 });
  const client = await join(small);
  assert.equal(listeners(), 1);
  page.dispatchEvent(new Event('pagehide'));
  assert.equal(client.state, 'disconnected');
  assert.equal((await client.closed).reason, 'client');
  (await placeIsFree(small)).disconnect();
});

test('a page that goes ends an attempt, and the server hears of it', async (t) => {
  let goodbyes = 0;
  const deaf = await startSecureServer(t, {
    loses: (datagram, way) => {
      goodbyes += Number(way === 'up' && typeOf(datagram) === packetType.disconnect);
      return way === 'up' && typeOf(datagram) === packetType.response;
    },
  });
  const onstate = (state) => state === 'responding' && page.dispatchEvent(new Event('pagehide'));
  await assert.rejects(join(deaf, { onstate }), { name: 'ConnectionError', code: 'CLOSED' });
  await until('all packets that tell the server', () => goodbyes === 10);
  assert.equal(listeners(), 0);
});

test('the page does not hold a client that has ended', async (t) => {
  const demo = await startSecureServer(t);
  const client = await join(demo);
  client.disconnect();
  assert.equal(listeners(), 0);
});

test('the last packets go even when others wait to leave', async (t) => {
  const small = await startSecureServer(t, { players: 1 });
  let jammed = false;
  class JammedWebSocket extends WebSocket {
    get bufferedAmount() {
      return jammed ? 1e6 : super.bufferedAmount;
    }
  }
  const client = await join(small, { WebSocket: JammedWebSocket });
  jammed = true;
  client.disconnect();
  (await placeIsFree(small)).disconnect();

  const transport = await WebSocketTransport.connect(small.url, {
    WebSocket: JammedWebSocket,
    maxWaitSeconds: 0,
  });
  assert.equal(transport.send(new Uint8Array(9)), false);
  assert.equal(transport.send(new Uint8Array(9), true), true);
  assert.equal(transport.stats().droppedBacklog, 1);
  transport.close();
});

for (const [name, open] of Object.entries({
  'a session': (url) => openTransport(url, { transports: ['websocket'], WebSocket }),
  'a WebSocket': (url) => WebSocketTransport.connect(url, { WebSocket }),
  'a data channel': (url) => WebRtcTransport.connect(url, { RTCPeerConnection }),
}))
  test(`${name} without a host is closed with the page`, async (t) => {
    const place = await startSecureServer(t);
    const transport = await open(place.url);
    assert.equal(listeners(), 1);
    page.dispatchEvent(new Event('pagehide'));
    assert.notEqual(transport.state, 'open');
    await transport.closed;
    assert.equal(listeners(), 0);
  });
