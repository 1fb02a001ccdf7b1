// Two tabs of one player: the newer one wins, the older one knows and leaves it alone.
import assert from 'node:assert/strict';
import { afterEach, test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { startSecureServer } from '../support/secure.mjs';
import { join } from '../support/join.mjs';
import { RTCPeerConnection } from '../support/wrtc.mjs';

const names = ['addEventListener', 'removeEventListener'];
const clients = [];

afterEach(() => {
  for (const client of clients.splice(0)) client.disconnect();
  for (const name of names) delete globalThis[name];
});

async function begin(t, options) {
  const place = await startSecureServer(t, options);
  const events = new EventTarget();
  for (const name of names) globalThis[name] = events[name].bind(events);
  let tokens = 0;
  /** Opens another tab. The later a token is made, the later it expires. */
  const openTab = async (transports) => {
    const tab = { asked: 0, states: [] };
    const token = () => {
      tab.asked++;
      return place.server.token({ clientId: 77, expireSeconds: 300 + tokens++ });
    };
    tab.client = await join(place, { token, transports, RTCPeerConnection });
    clients.push(tab.client);
    tab.client.addEventListener('state', ({ state }) => tab.states.push(state));
    return tab;
  };
  return { openTab, events };
}

/** Says something, and waits until it comes back. */
async function talk({ client }, text) {
  client.send(0, 'say', { text });
  for await (const { type, value } of client)
    if (type === 'said' && value.text === text)
      return assert.equal(value.player, client.slot.index);
  assert.fail('the connection has ended');
}

for (const transports of [['websocket'], ['webrtc'], ['webrtc', 'websocket']])
  test(`over ${transports.join(' and ')}: the newer tab wins, and the older knows`, async (t) => {
    const { openTab, events } = await begin(t);
    const older = await openTab(transports);
    await talk(older, 'one');
    const { index } = older.client.slot;
    const newer = await openTab(transports);
    const { reason, message } = await older.client.closed;
    assert.equal(reason, 'replaced', message);
    assert.equal(newer.client.slot.index, index);
    await talk(newer, 'two');
    // On a machine that stalls a tab may have opened another link before, so only what comes now counts.
    const { states, asked } = structuredClone({ states: older.states, asked: older.asked });
    assert.equal(states.at(-1), 'disconnected');

    // The older tab does not come back by itself, whatever happens to its page.
    events.dispatchEvent(new Event('online'));
    events.dispatchEvent(Object.assign(new Event('pageshow'), { persisted: true }));
    await sleep(2000);
    await talk(newer, 'three');
    assert.deepEqual(older.states, states);
    assert.equal(older.asked, asked);
    assert.ok(!newer.states.includes('disconnected'));

    // The older tab comes back when somebody asks it to.
    await older.client.reconnect();
    assert.equal((await newer.client.closed).reason, 'replaced');
    await talk(older, 'four');
  });

test('without takeover the newer tab is told, and the older notices nothing', async (t) => {
  const { openTab } = await begin(t, { takeover: false });
  const older = await openTab(['websocket']);
  await talk(older, 'one');
  await assert.rejects(openTab(['websocket']), {
    name: 'ConnectError',
    code: 'ID_CONNECTED',
    stage: 'request',
  });
  await talk(older, 'two');
  assert.ok(!older.states.includes('disconnected'));
  older.client.disconnect();
  await talk(await openTab(['websocket']), 'three');
});
