// A game server knows its players by their addresses when the relay tells it whose datagrams it forwards.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { connect as join } from '../support/causeway.mjs';
import { PROTOCOL_ID, messages, startGameServer } from '../support/secure.mjs';
import { patiently } from '../support/patience.mjs';
import { startRelay } from '../support/relay.mjs';
import { WebSocket } from '../support/websocket.mjs';
import { own } from '../support/fixture.mjs';

for (const format of ['spp', 'ppv2'])
  test(`a Causeway server knows its players by their addresses, ${format}`, async (t) => {
    const server = await startGameServer(t, { trusted: '127.0.0.0/8' });
    const relay = await startRelay(t, {
      upstream: `127.0.0.1:${server.port},client-address=${format}`,
      gated: true,
      args: ['--protocol-id', String(PROTOCOL_ID)],
    });
    for (const localAddress of ['127.0.0.7', '127.0.0.8']) {
      class From extends WebSocket {
        constructor(url, protocols) {
          super(url, protocols, { localAddress });
        }
      }
      const client = await join(`http://127.0.0.1:${relay.port}/`, {
        token: await server.token(),
        schema: messages,
        transports: ['websocket'],
        WebSocket: From,
      });
      own(t, () => client.disconnect());
      const { index } = client.slot;
      const said = new Promise((resolve) =>
        client.addEventListener('message', ({ message: { type, value } }) => {
          if (type === 'said' && value.player === index) resolve(value.text);
        }),
      );
      client.send(0, 'say', { text: '/who' });
      assert.match(await patiently(said, 'who it is'), new RegExp(`^${localAddress}:\\d+$`));
    }
  });
