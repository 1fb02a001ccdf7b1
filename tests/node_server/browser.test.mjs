// A page in a real Chromium plays on a server on Node, through the real relay.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { attempt, chat, ending, makeRoot, openPage } from '../support/chat_page.mjs';
import { PROTOCOL_ID, nextEvent, startServer } from '../support/node_server.mjs';
import { startRelay } from '../support/relay.mjs';
import { startChromium } from '../support/browsers.mjs';

for (const kind of ['webrtc', 'websocket'])
  test(`over ${kind}`, async (t) => {
    const root = makeRoot(t);
    const browser = await startChromium(t);
    const server = await startServer(t);
    const relay = await startRelay(t, {
      upstream: server.address,
      gated: true,
      args: ['--protocol-id', String(PROTOCOL_ID), '--rtc', '127.0.0.1:0', '--root', root],
    });
    const token = await server.generateConnectToken({ clientId: 3n });
    const connecting = nextEvent(server, 'connect');
    const page = await openPage(t, browser, relay);
    assert.deepEqual(await attempt(page, token, { transports: [kind] }), { transport: kind });
    const { client } = await connecting;
    let moves = 0;
    client.addEventListener('message', ({ message: { type, value } }) => {
      if (type === 'say') client.send(0, 'said', { player: client.slot, text: value.text });
      else moves++;
    });
    server.addEventListener('tick', () =>
      server.broadcast(1, 'world', { players: [client.slot], xs: [0.5], ys: [0.5] }),
    );
    const { sent, said, worlds } = await chat(page, 20);
    assert.deepEqual(said, sent);
    assert.ok(worlds > 10 && moves > 5, `${worlds} ${moves}`);
    client.kick('bye');
    assert.equal(await ending(page), 'kicked');
  });
