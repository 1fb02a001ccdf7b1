// The WebRTC transport through the real relay to a real UDP server, with a WebRTC stack for Node.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { ConnectError, WebRtcTransport, openTransport, require } from '../support/causeway.mjs';
import { sessionKey } from '../../web/dist/transports/session.js';
import { startDelayPath } from '../support/delay_path.mjs';
import { RTCPeerConnection } from '../support/wrtc.mjs';
import { until } from '../support/patience.mjs';
import { startRelay } from '../support/relay.mjs';
import { startUdpServer } from '../support/udp_server.mjs';

const { WebSocket } = require('ws');
const options = { RTCPeerConnection, WebSocket };
const args = ['--rtc', '127.0.0.1:0'];
const udp = await startUdpServer(test);
const relay = await startRelay(test, { upstream: udp.upstream, args });

const arrival = (transport) =>
  new Promise((resolve) => {
    transport.ondatagram = resolve;
  });

test('datagrams travel through the relay to a UDP server and back', async () => {
  const transport = await WebRtcTransport.connect(relay.url, options);
  for (const size of [1, 64, 1100]) {
    const datagram = Uint8Array.from({ length: size }, (_, i) => i * 11);
    assert.equal(transport.send(datagram), true);
    assert.deepEqual(await arrival(transport), datagram);
  }
  udp.send(new Uint8Array(1400).fill(7), udp.received.at(-1));
  assert.equal((await arrival(transport)).length, 1400);
  transport.close();
});

/** Returns how many requests have been made when a link to this relay has been opened and has carried a datagram. */
async function requestsAfter(url, mock) {
  const transport = await WebRtcTransport.connect(url, { ...options, session: sessionKey() });
  transport.send(Uint8Array.of(9));
  await arrival(transport);
  transport.close();
  return mock.callCount();
}

test('a page that has been here asks nothing', async (t) => {
  const { mock } = t.mock.method(globalThis, 'fetch');
  // The relay seems far, so it is waited for however slow this machine is.
  const now = performance.now.bind(performance);
  t.mock.method(performance, 'now', () => now() * 100);
  const path = await startDelayPath(t, { rtt: 0 });
  path.to(await startRelay(t, { upstream: udp.upstream, args: path.relayOptions }));
  for (let i = 0; i < 3; i++) assert.equal(await requestsAfter(path.url, mock), 1);
  // Its WebSocket and WebRTC carry one session.
  const from = udp.received.length;
  const transport = await openTransport(path.url, options);
  await until('WebRTC', () => transport.send(Uint8Array.of(9)) && transport.kind === 'webrtc');
  transport.close();
  assert.equal(new Set(udp.received.slice(from).map(({ port }) => port)).size, 1);
  assert.equal(mock.callCount(), 1);
});

test('a relay that has another certificate is asked again', async (t) => {
  const { mock } = t.mock.method(globalThis, 'fetch');
  const path = await startDelayPath(t, { rtt: 0 });
  for (const count of [1, 2]) {
    path.to(await startRelay(t, { upstream: udp.upstream, args: path.relayOptions }));
    assert.equal(await requestsAfter(path.url, mock), count);
  }
});

test('the end of the relay ends the transport', async (t) => {
  const short = await startRelay(t, { upstream: udp.upstream, args });
  const transport = await WebRtcTransport.connect(short.url, options);
  assert.equal(await short.stop(), 0);
  await transport.closed;
  assert.equal(transport.state, 'closed');
});

test('a relay without WebRTC says so, and WebSocket takes over', async (t) => {
  const short = await startRelay(t, { upstream: udp.upstream });
  await assert.rejects(WebRtcTransport.connect(short.url, options), (error) => {
    assert.ok(error instanceof ConnectError);
    assert.equal(error.stage, 'signalling');
    return true;
  });
  const transport = await openTransport(short.url, options);
  assert.equal(transport.kind, 'websocket');
  transport.close();
});
