// One process behind a reverse proxy that ends TLS and has one port, as hosts have that give a program only HTTP: what
// SERVER.md says about them holds behind HAProxy and nginx.
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { test } from 'node:test';
import { freePort } from '../support/free_port.mjs';
import { join, startOneProcess } from '../support/one_process.mjs';
import { patiently, sleep, until } from '../support/patience.mjs';
import { require } from '../support/packages.mjs';
import { proxies, startProxy } from '../support/proxies.mjs';
import { WebSocket } from '../support/websocket.mjs';

const https = require('node:https');
/** The seconds after which the proxies cut a connection on which nothing comes; hosts have some 60. */
const SILENCE = 2;

/** Returns the WebSockets of a page of this host, which come from an address and may lie about it. */
const at = (localAddress, headers = {}) =>
  class extends WebSocket {
    constructor(url, protocols) {
      const origin = new URL(url).origin.replace('wss:', 'https:');
      const options = { localAddress, family: 4, rejectUnauthorized: false, origin, headers };
      super(url, protocols, options);
    }
  };

/** Gets a token as a page of this host does. */
async function tokenFrom(url) {
  const options = { method: 'POST', headers: { origin: url }, rejectUnauthorized: false };
  const request = https.request(`${url}/token`, options).end();
  const [response] = await patiently(once(request, 'response'), 'a token');
  assert.equal(response.statusCode, 200);
  return Buffer.concat(await response.toArray());
}

for (const [program, { missing }] of Object.entries(proxies))
  test(
    `two pages play through ${program}, which is started again`,
    { skip: missing },
    async (t) => {
      const trust = { trustedProxies: ['127.0.0.1'], maxSessionsPerAddress: 1 };
      const place = await startOneProcess(t, trust);
      place.http.removeAllListeners('request').on('request', place.server.tokens());
      const port = await freePort('tcp');
      const way = { port, app: place.port, silence: SILENCE };
      const stop = await startProxy(t, program, way);
      const url = `https://localhost:${port}`;
      const players = [];
      for (const [address, headers] of [
        ['127.0.0.11', {}],
        ['127.0.0.12', { 'x-forwarded-for': '127.0.0.11' }],
      ]) {
        const token = () => tokenFrom(url);
        const options = { token, WebSocket: at(address, headers) };
        const { player, client } = await join(t, { ...place, url }, options);
        assert.equal(client.address, address, 'a stranger cannot say who they are');
        players.push(player);
      }
      const say = async (text) => {
        for (const player of players) assert.equal(await player.track(0, 'say', { text }), 'acked');
      };
      await say('hello');
      await sleep(2 * SILENCE * 1000);
      await say('the proxy has cut nothing');
      await stop();
      await until('the loss of all links', () =>
        players.every(({ state }) => state !== 'connected'),
      );
      await startProxy(t, program, way);
      await say('the proxy is back');
      assert.equal(place.server.clients.size, 2);
      assert.equal(place.server.stats().connections, 2, 'nobody had to connect anew');
    },
  );
