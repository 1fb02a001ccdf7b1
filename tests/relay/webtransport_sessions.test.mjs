// Sessions over WebTransport: a native client that behaves like Safari, and a game server that echoes.
import assert from 'node:assert/strict';
import { X509Certificate } from 'node:crypto';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, test } from 'node:test';
import { certify } from '../support/certificate.mjs';
import { startDelayPath } from '../support/delay_path.mjs';
import { share, temporaryFolder } from '../support/fixture.mjs';
import { sleep } from '../support/patience.mjs';
import {
  assertAddsUp,
  assertStats,
  oneProcess,
  run,
  startRelay,
  statsUntil,
} from '../support/relay.mjs';
import { startUdpPath } from '../support/udp_path.mjs';
import { startUdpServer } from '../support/udp_server.mjs';
import {
  REFUSED,
  askRelay,
  closeOf,
  inParts,
  open,
  startClient,
  whole,
} from '../support/webtransport.mjs';
import { ask, connectAs, newKey } from './links.mjs';

const ORIGIN = 'https://game.example';
const options = [
  '--rtc',
  '127.0.0.1:0',
  '--webtransport',
  '--origin',
  ORIGIN,
  '--origin',
  'http://b',
];

const start = async (t, args = []) => {
  const udp = await startUdpServer(t);
  const relay = await startRelay(t, { upstream: udp.upstream, args: [...options, ...args] });
  return { udp, relay };
};

describe('a session', () => {
  const shared = share((t) => start(t));

  test('carries 400 of 400 datagrams both ways, and the counters add up', async (t) => {
    const { relay } = shared();
    const client = await open(t, relay);
    for (let i = 0; i < 400; i++) {
      const sent = Buffer.alloc(1 + ((i * 7) % 1000), i);
      client.datagram(whole(sent));
      assert.deepEqual(await client.receive(), sent);
    }
    if (!oneProcess) assertAddsUp(await relay.stats());
  });

  test('begins with the settings that each browser wants', async (t) => {
    const { settings } = await open(t, shared().relay);
    const known = Object.fromEntries(settings.split(' ').map((pair) => pair.split('=')));
    for (const name of ['8', '33', 'ffd277', '2b603742', 'c671706a', '14e9cd29', '2c7cf000'])
      assert.equal(known[name], '1', `setting ${name}`);
    // Safari sends nothing without credit.
    for (const name of ['2b61', '2b64', '2b65']) assert.ok(known[name] > 0, `setting ${name}`);
  });

  test('takes a datagram in two parts, in either order', async (t) => {
    const client = await open(t, shared().relay);
    const request = Buffer.alloc(1078, 'request');
    for (const parts of [inParts(request, 1), inParts(request, 2).reverse()]) {
      parts.forEach((part) => client.datagram(part));
      assert.deepEqual(await client.receive(), request);
    }
  });

  test('joins no parts of different datagrams, and takes what comes after them', async (t) => {
    const client = await open(t, shared().relay);
    client.datagram(inParts(Buffer.alloc(600, 'a'), 1)[0]);
    client.datagram(inParts(Buffer.alloc(600, 'b'), 2)[1]);
    client.datagram(whole('after'));
    assert.equal((await client.receive()).toString(), 'after');
  });

  test('brings a datagram of 1,100 bytes to the browser, and counts one that is too long', async (t) => {
    const { udp, relay } = shared();
    const client = await open(t, relay);
    client.datagram(whole('hello'));
    await client.receive();
    const to = udp.addresses.get(udp.received.at(-1).port);
    const before = oneProcess ? null : (await relay.stats()).dropped_oversize;
    udp.send(Buffer.alloc(1300), to);
    udp.send(Buffer.alloc(1100, 7), to);
    assert.deepEqual(await client.receive(), Buffer.alloc(1100, 7));
    if (!oneProcess) assertStats(await relay.stats(), { dropped_oversize: before + 1 });
  });

  test(
    'on a path that loses a fifth, the relay drops little more',
    { skip: oneProcess },
    async (t) => {
      const path = await startDelayPath(t, { rtt: 100 });
      const { udp, relay } = await start(t, path.relayOptions.slice(2));
      path.to(relay);
      const client = await open(t, relay);
      client.datagram(whole('hello'));
      await client.receive();
      path.loss = 0.2;
      const to = udp.addresses.get(udp.received.at(-1).port);
      for (let i = 0; i < 240; i++) {
        udp.send(Buffer.alloc(1000, i), to);
        await sleep(16);
      }
      const { dropped_congested } = await relay.stats();
      assert.ok(dropped_congested < 40, `${dropped_congested} of 240`);
    },
  );

  test('is the one of a WebSocket with the same key', async (t) => {
    const { udp, relay } = shared();
    const key = newKey();
    const client = await open(t, relay, { key, origin: ORIGIN });
    client.datagram(whole('first'));
    await client.receive();
    const { port } = udp.received.findLast(({ data }) => data.toString() === 'first');
    const socket = await connectAs(t, relay, key, { origin: ORIGIN });
    assert.equal(await ask(udp, socket, 'second'), port);
  });

  test('is told where the page uses it, whatever opened later', { skip: oneProcess }, async (t) => {
    const { relay } = shared();
    const key = newKey();
    const before = await connectAs(t, relay, key, { origin: ORIGIN });
    const client = await open(t, relay, { key, origin: ORIGIN });
    await before.echo('before');
    await connectAs(t, relay, key, { origin: ORIGIN });
    client.datagram(whole('after'));
    assert.equal((await client.receive()).toString(), 'after');
  });

  test('goes on when a NAT gives the browser another port', { skip: oneProcess }, async (t) => {
    const { udp, relay } = shared();
    const path = await startUdpPath(t, relay.rtcPort);
    const { path: target } = await askRelay(relay);
    const client = startClient(t, path.port, target);
    await client.expect('settings');
    await client.expect('stream');
    const ports = new Set();
    for (const text of ['here', 'there', 'elsewhere']) {
      // The relay may send little to the new port before the client has answered from there.
      const timer = setInterval(() => client.datagram(whole(text)), 20);
      while ((await client.receive()).toString() !== text);
      clearInterval(timer);
      ports.add(udp.received.at(-1).port);
      path.roam();
    }
    assert.equal(ports.size, 1);
  });

  test('ends an older link of its kind', async (t) => {
    const key = newKey();
    const old = await open(t, shared().relay, { key });
    old.datagram(whole('x'));
    await old.receive();
    const next = await open(t, shared().relay, { key });
    assert.equal(closeOf(await old.expect('stream')).code, 4003);
    next.datagram(whole('y'));
    assert.equal((await next.receive()).toString(), 'y');
  });
});

describe('a page', () => {
  const shared = share((t) => start(t));

  /** Resolves with what a client hears that asks for this path, as a page of this origin. */
  const refusal = async (t, path, origin = ORIGIN, relay = shared().relay) => {
    const { address } = await askRelay(relay);
    const client = startClient(t, address.slice(1), path, origin);
    await client.expect('settings');
    const answer = await client.expect('stream');
    await client.expect('end');
    return answer;
  };

  test('is refused without its pass, with that of another origin, and at another path', async (t) => {
    const { path } = await askRelay(shared().relay, { origin: ORIGIN });
    assert.equal(await refusal(t, '/webtransport'), REFUSED[404]);
    assert.equal(await refusal(t, '/webtransport?'), REFUSED[403]);
    assert.equal(await refusal(t, path, 'https://evil.example'), REFUSED[403]);
    assert.equal(await refusal(t, path.replace('webtransport', 'other')), REFUSED[404]);
    assert.equal(await refusal(t, `${path}&session=short`), REFUSED[400]);
    assert.equal(await refusal(t, `${path}&server=nowhere`), REFUSED[400]);
  });

  test('of a foreign origin gets no pass', async () => {
    const reply = await fetch(new URL('webtransport', shared().relay.url), {
      method: 'POST',
      headers: { origin: 'https://evil.example' },
    });
    assert.equal(reply.status, 403);
  });

  test(
    'is refused with the pass of an origin that a reload has removed',
    { skip: oneProcess },
    async (t) => {
      const file = join(temporaryFolder(t), 'relay.conf');
      writeFileSync(file, `origin = ${ORIGIN}\n`);
      const args = [...options.slice(0, 3), '--config', file];
      const relay = await startRelay(t, { upstream: shared().udp.upstream, args });
      const { path } = await askRelay(relay, { origin: ORIGIN });
      await open(t, relay, { origin: ORIGIN });
      writeFileSync(file, 'origin = http://b\n');
      relay.kill('SIGHUP');
      await relay.logged(/reloaded the options/);
      assert.equal(await refusal(t, path, ORIGIN, relay), REFUSED[403]);
    },
  );

  test('gets the hashes of two certificates', async () => {
    const { hashes } = await askRelay(shared().relay);
    assert.equal(hashes.length, 2);
    for (const hash of hashes) assert.match(hash, /^[0-9a-f]{64}$/);
    assert.notEqual(hashes[0], hashes[1]);
  });

  test('names its game server, if there are several, and is told when it is not allowed', async (t) => {
    const { udp, relay } = await start(t, ['--upstream', '127.0.0.2:9']);
    const client = await open(t, relay, { query: `&server=127.0.0.1_${udp.port}` });
    client.datagram(whole('hello'));
    assert.equal((await client.receive()).toString(), 'hello');
    const { address, path } = await askRelay(relay);
    const other = startClient(t, address.slice(1), `${path}&server=127.0.0.1_9`);
    await other.expect('settings');
    assert.equal(closeOf(await other.expect('stream')).code, 4006);
  });
});

describe('a certificate of the operator', () => {
  test(
    'is shown, and pages get no hashes; SIGHUP reads it again',
    { skip: oneProcess },
    async (t) => {
      const folder = temporaryFolder(t);
      const { certificate, key } = certify(folder);
      const files = ['--webtransport-certificate', certificate, '--webtransport-key', key];
      const { relay } = await start(t, files);
      assert.deepEqual((await askRelay(relay)).hashes, []);
      const current = () => new X509Certificate(readFileSync(certificate)).raw.toString('hex');
      const reload = async (says) => {
        const from = relay.log().length;
        relay.kill('SIGHUP');
        await relay.logged(says, from);
      };
      const shown = async () => {
        const client = await open(t, relay);
        client.say('certificate');
        return client.expect('certificate');
      };
      for (let round = 0; round < 3; round++) {
        assert.equal(await shown(), current());
        certify(folder);
        await reload(/reloaded the options\n/);
      }
      const last = current();
      writeFileSync(certificate, 'nonsense');
      await reload(/no certificate for WebTransport from [^]*not reloaded\n/);
      assert.equal(await shown(), last);
    },
  );

  test('that cannot be read keeps the relay from starting', async () => {
    const args = ['--listen', '127.0.0.1:0', '--upstream', '127.0.0.1:9', ...options];
    const none = ['--webtransport-certificate', '/none', '--webtransport-key', '/none'];
    for (const more of [none, [...none, '--workers', '2']]) {
      const { code, stderr } = await run([...args, ...more]);
      assert.equal(code, 2);
      assert.match(stderr, /no certificate for WebTransport from \/none/);
    }
  });
});

describe('the end', { skip: oneProcess }, () => {
  const CLOSE = { onPurpose: '00076843040000 03e8', byTheBrowser: '0007684304 00000000' };

  for (const [how, hex] of Object.entries(CLOSE))
    test(`${how}: the relay answers it, and the session ends or waits`, async (t) => {
      const { relay } = await start(t);
      const client = await open(t, relay, { key: newKey() });
      client.datagram(whole('hello'));
      await client.receive();
      client.say(`stream ${hex.replaceAll(' ', '')}`);
      client.say('end');
      await client.expect('end');
      assert.equal(await client.expect('closed'), '100');
      const waits = how === 'byTheBrowser' ? 1 : 0;
      await statsUntil(relay, (stats) => stats.sessions_unlinked === waits);
      assertStats(await relay.stats(), { sessions_ended_client: 1 - waits });
    });

  test('of the relay: the browser is told why', async (t) => {
    const { relay } = await start(t);
    const client = await open(t, relay);
    client.datagram(whole('hello'));
    await client.receive();
    relay.kill('SIGTERM');
    const { code, reason } = closeOf(await client.expect('stream'));
    assert.equal(code, 1001);
    assert.equal(reason, 'relay is stopping');
    client.say('end');
    assert.equal(await client.expect('end'), '');
    assert.equal(await client.expect('closed'), '100');
    await relay.ended();
  });

  test('an upgrade: the session goes on over a new link', async (t) => {
    const { udp, relay } = await start(t);
    const key = newKey();
    const client = await open(t, relay, { key });
    client.datagram(whole('before'));
    await client.receive();
    await relay.upgrade();
    assert.equal(closeOf(await client.expect('stream')).code, 1012);
    const again = await open(t, relay, { key });
    again.datagram(whole('after'));
    assert.equal((await again.receive()).toString(), 'after');
    assert.equal(udp.received.at(-1).port, udp.received.at(-2).port);
  });
});
