// Players in real browsers play on by themselves: when their page runs again, and when the relay is back.
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { chat, makeRoot, openPage } from '../support/chat_page.mjs';
import { browsers } from '../support/browsers.mjs';
import { own, share } from '../support/fixture.mjs';
import { freePort } from '../support/free_port.mjs';
import { sleep, until } from '../support/patience.mjs';
import { reportGap } from '../support/player.mjs';
import { descendantsOf } from '../support/programs.mjs';
import { PROTOCOL_ID, startGameServer } from '../support/secure.mjs';
import { startRelay } from '../support/relay.mjs';

/** Seconds for which a page does not run; the game server gives its player up after TIMEOUT. */
const STOPPED = 12;
const TIMEOUT = 5;
/** Seconds for which there is no relay. */
const AWAY = 3;

const root = makeRoot(test);
const server = await startGameServer(test);
const args = ['--protocol-id', String(PROTOCOL_ID), '--rtc', '127.0.0.1:0', '--root', root];
const startGate = (t, listen = '127.0.0.1:0') =>
  startRelay(t, { upstream: server.upstream, listen, gated: true, args });

/** Connects in a page that has tokens enough for a machine that stalls, and notes when the state of its client changes. */
async function join(t, browser, relay, kind) {
  const page = await openPage(t, browser, relay);
  const made = Array.from({ length: 12 }, () =>
    server.token({ timeoutSeconds: TIMEOUT, expireSeconds: 300 }),
  );
  const tokens = (await Promise.all(made)).map((token) => [...token]);
  await page.evaluate(
    async ([left, transport]) => {
      const { connect } = await import('causeway-net');
      const { messages } = await import('/chat_schema.js');
      globalThis.client = await connect('/', {
        token: () => Promise.resolve(new Uint8Array(left.shift())),
        schema: messages,
        transports: [transport],
        reconnect: true,
      });
      const notes = (globalThis.notes = { states: [], heard: Date.now() });
      globalThis.client.addEventListener('state', ({ state }) => notes.states.push(state));
      globalThis.client.addEventListener('message', () => (notes.heard ||= Date.now()));
    },
    [tokens, kind],
  );
  await plays(page);
  return page;
}

/** Checks that what the page says comes back, now that it is connected. */
async function plays(page) {
  await until('the connection', async () => {
    const state = await page.evaluate(() => globalThis.client.state);
    assert.notEqual(state, 'disconnected');
    return state === 'connected';
  });
  const { sent, said } = await chat(page, 5);
  assert.deepEqual(said, sent);
}

/** Returns the processes that run the pages of browsers which this test has started. */
function pageProcesses() {
  return descendantsOf(process.pid)
    .filter(({ command }) => /--type=renderer| -contentproc .*\btab$/.test(command))
    .map(({ pid }) => pid);
}

for (const [name, start] of Object.entries(browsers))
  describe(name, () => {
    const browser = share(start);

    for (const kind of ['websocket', 'webrtc']) {
      test(`${kind}: a page that did not run plays again by itself`, async (t) => {
        const page = await join(t, browser(), await startGate(t), kind);
        const pids = pageProcesses();
        assert.ok(pids.length > 0);
        const signal = (what) => pids.forEach((pid) => process.kill(pid, what));
        own(t, () => signal('SIGCONT'));
        signal('SIGSTOP');
        await sleep(STOPPED * 1000);
        signal('SIGCONT');
        const states = () => page.evaluate(() => globalThis.notes.states);
        await until('the loss', async () => (await states()).length > 0);
        await plays(page);
      });

      test(`${kind}: a relay that is gone for a while loses nobody`, async (t) => {
        const listen = `127.0.0.1:${await freePort('tcp')}`;
        const relay = await startGate(t, listen);
        const page = await join(t, browser(), relay, kind);
        await relay.stop('SIGKILL');
        await sleep(AWAY * 1000);
        await page.evaluate(() => (globalThis.notes.heard = 0));
        await startGate(t, listen);
        const back = Date.now();
        const heard = () => page.evaluate(() => globalThis.notes.heard);
        reportGap(t, { gap: (await until('a message', heard)) - back }, 1000);
        await plays(page);
      });
    }
  });
