// A transport of payloads tells its end: the code and the text, for every way in which it can end. All is in virtual
// time; the server is that of the package.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { SimulatedNetwork, loadServer, openSecureTransport } from '../support/causeway.mjs';
import { own } from '../support/fixture.mjs';
import { VirtualDistance } from '../support/virtual_distance.mjs';

const core = await loadServer();

const RTT_MS = 40;
/** The token's timeout, which is that of the connection. */
const TIMEOUT_SECONDS = 2;
const TIMED_OUT = 'the connection timed out: nothing came through any more';

/** Each end: what brings it about, and what `closed` then tells. */
const ENDS = [
  {
    name: 'this side closes it',
    bring: ({ transport }) => transport.close(4321, 'done'),
    close: { code: 4321, reason: 'done' },
  },
  {
    name: 'the server kicks the player',
    bring: ({ rig }) => rig.server.disconnect(0, { code: 7, text: 'no cheating' }, 0, rig.now),
    close: { code: 1000, reason: 'the server has disconnected this client: no cheating' },
  },
  {
    name: 'the same player has connected from elsewhere',
    bring: ({ rig }) => rig.join({ clientId: 1n }),
    close: { code: 1000, reason: 'the same player has connected from elsewhere' },
  },
  {
    name: 'the server stops',
    bring: ({ rig }) => rig.server.disconnectAll(),
    close: { code: 1001, reason: 'the server is stopping' },
  },
  {
    name: 'a server disconnects without saying why, as those of other makes do',
    bring: ({ distance, rig }) => {
      // A farewell is longer than a plain disconnect packet, which follows.
      distance.loses = ({ length }) => length > 26;
      rig.server.disconnect(0, { code: 7, text: 'no cheating' }, 0, rig.now);
    },
    close: { code: 1000, reason: 'the server has disconnected this client' },
  },
  {
    name: 'nothing comes from the server any more',
    bring: ({ distance }) => (distance.loses = () => true),
    close: { code: 1006, reason: TIMED_OUT },
  },
  {
    name: 'the relay is lost for good',
    bring: ({ distance }) => {
      distance.unreachable = true;
      distance.platform.socket.end(1012, 'restart');
    },
    close: { code: 1012, reason: 'restart' },
  },
  {
    name: 'the relay is lost and comes back, and nothing comes from the server any more',
    bring: ({ distance }) => {
      distance.loses = () => true;
      distance.platform.socket.end(1012, 'restart');
    },
    close: { code: 1006, reason: TIMED_OUT },
  },
  {
    name: 'the page did not run for too long',
    bring: ({ distance }) => distance.sleep(60_000),
    close: { code: 1006, reason: 'the page did not run for 60 s, and ' + TIMED_OUT },
  },
  {
    name: 'what lies between it and the relay ends',
    bring: ({ between }) => between.close(4002, 'unplugged'),
    close: { code: 4002, reason: 'unplugged' },
  },
];

for (const { name, bring, close } of ENDS)
  test(name, async (t) => {
    const distance = new VirtualDistance(RTT_MS);
    own(t, () => distance.stop());
    const { rig } = distance;
    const network = new SimulatedNetwork(core);
    let between;
    let transport;
    const opening = openSecureTransport('http://relay.test/', {
      ...distance.options,
      schema: undefined,
      transports: ['websocket'],
      through: (session) => (between = network.through(session)),
      token: await distance.token({ timeoutSeconds: TIMEOUT_SECONDS }),
    });
    opening.then((opened) => (transport = opened));
    await distance.passUntil('connected', () => transport, 20 * RTT_MS + 1000);

    let answered;
    transport.closed.then((each) => (answered = each));
    await bring({ distance, rig, transport, between });
    await distance.passUntil(name, () => answered, 1000 * (TIMEOUT_SECONDS + 2));
    assert.deepEqual(answered, close);
    assert.equal(transport.state, 'closed');
    assert.equal(transport.send(new Uint8Array(1)), false);
  });
