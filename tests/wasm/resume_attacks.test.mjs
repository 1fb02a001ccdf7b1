// Attacks of strangers on a player's session who have seen everything that it has sent: through relay and server they
// gain nothing, the player notices nothing, and less comes out than was put in.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { connectAs, newKey } from '../relay/links.mjs';
import {
  Replay,
  Type,
  openPacket,
  readToken,
  requestPacket,
  sealPacket,
} from '../support/netcode_standard.mjs';
import { until as eventually } from '../support/patience.mjs';
import { reportGap, startPlayer, until } from '../support/player.mjs';
import { startSecureServer, typeOf } from '../support/secure.mjs';
import { WebSocket, join } from '../support/join.mjs';
import { own, repeat } from '../support/fixture.mjs';
import { randomFrom } from '../support/random.mjs';

/** The bit that is set in the number of a response that moves a slot, beside the slot's number. */
const MOVES = 1n << 63n;
/** The value that the keep-alive has in the slot's place when it confirms a move. */
const MOVED = 2 ** 32 - 1;
/** The code of a link in whose place its session has got another one. */
const REPLACED = 4003;
/** The number of strangers who replay a request in a storm. */
const STRANGERS = 20;
/** The number of moves of the player meanwhile. */
const CUTS = 3;

let place;

const begin = async (t, ...options) => {
  place = await startSecureServer(t, {
    relayOptions: ['--origin', '*', '--max-sessions-per-address', '0', ...options],
  });
};

/** Starts a player, with the sockets of its links, as soon as these are open, and all that it has sent over them. */
async function play(t) {
  const sockets = [];
  const codes = [];
  const seen = [];
  class Tapped extends WebSocket {
    constructor(url, protocols) {
      super(url, protocols);
      this.key = protocols[1].slice('causeway.session.'.length);
      this.on('open', () => sockets.push(this) && this.on('close', (code) => codes.push(code)));
    }

    send(data) {
      seen.push(Buffer.from(data));
      super.send(data);
    }
  }
  const token = await place.server.token({ timeoutSeconds: 10 });
  const client = await join(place, { token, WebSocket: Tapped });
  own(t, () => client.disconnect());
  const player = startPlayer(client);
  return Object.assign(player, {
    seen,
    sockets,
    codes,
    key: sockets[0].key,
    request: seen.find((datagram) => typeOf(datagram) === Type.request),
    /** Breaks the player's link, which it replaces. */
    async cut() {
      sockets.at(-1).terminate();
      await until(client, 'state', 'reconnecting');
    },
  });
}

/** Opens a stranger's link, which counts the bytes that the stranger sends. */
async function stranger(t, key = newKey(), options = {}) {
  const link = await connectAs(t, place.relay, key, options);
  return {
    put: 0,
    send(datagram) {
      this.put += datagram.length;
      link.send(datagram);
    },
    /** All datagrams that have come over the link. */
    get got() {
      return link.messages.map(({ data }) => data);
    },
    /** Resolves with the newest datagram of this type, as soon as there is one. */
    comes: (type) =>
      eventually(`a packet of type ${type}`, () =>
        link.messages.map(({ data }) => data).findLast((data) => typeOf(data) === type),
      ),
  };
}

/**
 * Checks that nobody without the player's keys can use the datagrams that strangers got, and that these are less than
 * they sent.
 */
function assertNothingGained(t, strangers) {
  const sum = (list) => list.reduce((total, { length }) => total + length, 0);
  const got = strangers.flatMap((each) => each.got);
  assert.deepEqual([...new Set(got.map(typeOf))], [Type.challenge]);
  const amplification = sum(got) / strangers.reduce((total, { put }) => total + put, 0);
  t.diagnostic(`amplification ${amplification.toFixed(3)}`);
  assert.ok(amplification <= 1);
}

/**
 * Checks that nobody has disturbed the player. On a machine that stalls the player may open another link, and close the
 * one before, but the relay ends none.
 */
async function undisturbed(t, player) {
  await player.rest();
  for (const code of player.codes) assert.ok([1000, 1005, REPLACED].includes(code), `${code}`);
  reportGap(t, player, 500);
}

test('a session key that is guessed, or named by a page of another origin', async (t) => {
  await begin(t);
  const player = await play(t);
  await sleep(300);
  const near = Array.from({ length: 20 }, (_, i) => {
    const letter = player.key[i] === 'A' ? 'B' : 'A';
    return player.key.slice(0, i) + letter + player.key.slice(i + 1);
  });
  const strangers = await Promise.all([
    ...near.map((key) => stranger(t, key)),
    stranger(t, player.key, { origin: 'https://evil.example' }),
  ]);
  for (const each of strangers) for (const datagram of player.seen) each.send(datagram);
  await Promise.all(strangers.map((each) => each.comes(Type.challenge)));
  await sleep(300);
  await undisturbed(t, player);
  assertNothingGained(t, strangers);
  const { sessions_opened, links_joined } = await place.relay.stats();
  assert.deepEqual(
    [sessions_opened, links_joined],
    [1 + strangers.length, player.sockets.length - 1],
  );
});

for (const [how, ...options] of [['is resumed'], ['moves', '--resume-seconds', '0']])
  test(`a session that ${how}, replayed from its first packet on`, async (t) => {
    await begin(t, ...options);
    const player = await play(t);
    const strangers = [await stranger(t), await stranger(t)];
    // One stranger replays everything at once, again and again; the other right after the player, packet by packet.
    const timer = setInterval(() => player.seen.forEach((each) => strangers[0].send(each)), 100);
    let next = 0;
    const echo = setInterval(() => {
      while (next < player.seen.length) strangers[1].send(player.seen[next++]);
    }, 5);
    await sleep(1000);
    // The strangers go on while the player is away.
    await player.cut();
    await sleep(200);
    await until(player.client, 'state', 'connected');
    await sleep(500);
    clearInterval(timer);
    clearInterval(echo);
    await player.rest();
    assert.match(player.states.join(), /^(reconnecting,connected(,|$))+$/);
    reportGap(t, player, 1000);
    assertNothingGained(t, strangers);
  });

test("somebody else's slot", async (t) => {
  await begin(t);
  const player = await play(t);
  const thief = readToken(await place.server.token({ timeoutSeconds: 10 }));
  const { protocolId, clientToServer, serverToClient } = thief;
  const respond = (sequence, body) =>
    sealPacket({ protocolId, key: clientToServer, type: Type.response, sequence, body });
  const open = (packet) =>
    openPacket(packet, { protocolId, key: serverToClient, ignored: [], replay: new Replay() });

  const home = await stranger(t);
  home.send(requestPacket(thief));
  home.send(respond(0n, open(await home.comes(Type.challenge)).body));
  const slot = BigInt(open(await home.comes(Type.keepAlive)).body.readUInt32LE());
  const victim = BigInt(player.client.slot.index);
  assert.notEqual(slot, victim);

  const there = await stranger(t);
  there.send(player.request);
  const ofVictim = await there.comes(Type.challenge);
  assert.throws(() => open(ofVictim), 'it is for the keys of the victim');
  const before = there.got.length;
  there.send(requestPacket(thief));
  await eventually('the challenge of the thief', () => there.got.length > before);
  const { body } = open(there.got.at(-1));
  // The thief may move himself. He does it first, because the relay carries little for those who only get challenges.
  const isConfirmation = (packet) =>
    typeOf(packet) === Type.keepAlive && open(packet).body.readUInt32LE() === MOVED;
  const confirmations = () => there.got.filter(isConfirmation).length;
  there.send(respond(MOVES | slot, body));
  await eventually('the thief has moved', () => confirmations() === 1);
  const forged = Buffer.from(ofVictim);
  forged[0] = (8 << 4) | Type.response;
  forged.writeBigUInt64LE(MOVES | victim, 1);
  const altered = Array.from({ length: body.length }, (_, i) => {
    const other = Buffer.from(body);
    other[i] ^= 1;
    return respond(MOVES | slot, other);
  });
  for (const datagram of [
    respond(MOVES | victim, body),
    respond(MOVES | victim, ofVictim.subarray(9, 9 + body.length)),
    respond(MOVES | slot, ofVictim.subarray(9, 9 + body.length)),
    forged,
    ...altered,
    ...player.seen,
  ])
    there.send(datagram);
  // A repeated response is confirmed again; all of the above has arrived by the time it is.
  there.send(respond(MOVES | slot, body));
  await eventually('the thief is told again', () => confirmations() === 2);
  // Except for challenges, all that has come is for the thief's own keys.
  there.got.filter((packet) => typeOf(packet) !== Type.challenge).forEach(open);
  await undisturbed(t, player);
});

test('a storm of moves', async (t) => {
  // The relay keeps nothing for links to come, so a player who loses one must move.
  await begin(t, '--resume-seconds', '0');
  const [player, other] = [await play(t), await play(t)];
  const strangers = await Promise.all(Array.from({ length: STRANGERS }, () => stranger(t)));
  const random = randomFrom(1);
  const forge = () => {
    const datagram = Buffer.from(Array.from({ length: 333 }, () => random() * 256));
    datagram[0] = (8 << 4) | Type.response;
    datagram.writeBigUInt64LE(MOVES | BigInt(player.client.slot.index), 1);
    return datagram;
  };
  const timer = repeat(
    t,
    () => {
      for (const each of strangers) {
        each.send(player.request);
        each.send(forge());
      }
    },
    20,
  );
  for (let i = 0; i < CUTS; i++) {
    await sleep(500);
    await player.cut();
    await until(player.client, 'state', 'connected');
  }
  clearInterval(timer);
  await player.rest();
  reportGap(t, player, 1000);
  await undisturbed(t, other);
  assertNothingGained(t, strangers);
  const links = player.sockets.length + other.sockets.length + STRANGERS;
  assert.ok(links >= STRANGERS + 2 + CUTS);
  const { sessions_opened, links_joined } = await place.relay.stats();
  assert.equal(sessions_opened + links_joined, links);
});
