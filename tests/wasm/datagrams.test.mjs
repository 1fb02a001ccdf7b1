// Datagrams leave as views of the module's memory, unless somebody may keep them.
import assert from 'node:assert/strict';
import { mock, test } from 'node:test';
import { own } from '../support/fixture.mjs';
import {
  Connection,
  ConnectionHost,
  SimulatedNetwork,
  loadCore,
  loadServer,
  message,
  schema,
  string,
} from '../support/causeway.mjs';

const core = await loadCore();
const texts = schema(message('say', { text: string(200) }));
const isOfModule = ({ buffer }) => buffer === core.memory.bytes.buffer;

test('a view has the bytes of the datagram, also after the memory has grown', () => {
  const ends = [0, 1].map(() => new Connection(core, texts));
  for (const now of [0, 1]) {
    for (const end of ends) {
      end.send(1, 'say', { text: 'hello' }, now);
      end.update(now);
    }
    const copy = ends[0].transmit(now);
    const view = ends[1].transmitView(now);
    assert.deepEqual(view, copy);
    assert.deepEqual([view, copy].map(isOfModule), [true, false]);
    core.exports.memory.grow(1);
  }
  ends.forEach((end) => end.destroy());
});

/** Makes a transport of a user, which keeps its datagrams in `kept`, and may pass them on to another one. */
const keeper = (kept, next) => ({
  kind: 'websocket',
  state: 'open',
  maxDatagramSize: 1400,
  ondatagram: null,
  closed: new Promise(() => {}),
  send: (datagram) => Boolean(kept.push(datagram)) && (next?.send(datagram) ?? true),
  stats: () => ({}),
  close: () => {},
});

/** Runs a host for a message over a transport. */
function run(t, transport) {
  let now = 0;
  let tick;
  mock.method(performance, 'now', () => now);
  mock.method(globalThis, 'setInterval', (each) => {
    tick = each;
  });
  own(t, () => mock.restoreAll());
  const host = new ConnectionHost(core, texts, transport);
  host.send('say', { text: 'hello' });
  now += 100;
  tick();
}

test("a user's transport gets copies, which it may keep", (t) => {
  const kept = [];
  run(t, keeper(kept));
  assert.deepEqual(kept.map(isOfModule), [false]);
});

test('one of ours gets views, but not what a user has made of it', async (t) => {
  const network = new SimulatedNetwork(await loadServer());
  const ours = network.through(keeper([]));
  const send = mock.method(ours, 'send');
  run(t, ours);
  assert.deepEqual(
    send.mock.calls.map(({ arguments: [datagram] }) => isOfModule(datagram)),
    [true],
  );
  const kept = [];
  run(t, Object.create(ours, Object.getOwnPropertyDescriptors(keeper(kept, ours))));
  assert.deepEqual(kept.map(isOfModule), [false]);
});
