// The relay's WebRTC side: the real program, a real UDP server, and two client stacks.
import assert from 'node:assert/strict';
import { createHmac } from 'node:crypto';
import { createSocket } from 'node:dgram';
import { once } from 'node:events';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, test } from 'node:test';
import { oneProcess, run, startRelay, workers } from '../support/relay.mjs';
import { connect, negotiated, open, postOffer, stacks, unreliable } from '../support/rtc.mjs';
import { until } from '../support/patience.mjs';
import { startUdpServer } from '../support/udp_server.mjs';
import { startUdpPath } from '../support/udp_path.mjs';
import { replyTo } from '../support/tcp.mjs';
import { own, temporaryFolder } from '../support/fixture.mjs';
import { answerTo } from '../../web/dist/transports/ticket.js';
import { newKey } from './links.mjs';

const RTC = ['--rtc', '127.0.0.1:0'];

const udp = await startUdpServer(test);
const relay = await startRelay(test, {
  upstream: udp.upstream,
  args: [...RTC, '--log-level', 'debug'],
});

/** Starts another relay in front of the same server. */
const serve = (t, ...args) => startRelay(t, { upstream: udp.upstream, args: [...RTC, ...args] });

/** Returns the worker that an offer came to, from 0 on: a name of its path, if there are several. */
const workerOf = (reply) =>
  Number(/^\/rtc\/(\d+)\//.exec(reply.headers.get('location'))?.[1] ?? 1) - 1;

const sessions = async () => (await relay.stats()).sessions_open;
const noSession = () => until('all sessions closed', async () => (await sessions()) === 0);

async function makeOffer() {
  const peer = new stacks[0].RTCPeerConnection();
  peer.createDataChannel('game', unreliable);
  const offer = await peer.createOffer();
  peer.close();
  return offer.sdp;
}

for (const stack of stacks) {
  describe(stack.name, () => {
    for (const [kind, options] of Object.entries({ unreliable, negotiated })) {
      test(`a channel that is ${kind} carries datagrams of every size both ways`, async (t) => {
        const seen = udp.received.length;
        const connection = await open(t, relay.url, { stack, options });
        for (const size of [1, 2, 100, 1100, 1160, 1161, 1200, 1399, 1400]) {
          const data = Buffer.alloc(size, size & 0xff);
          connection.channel.send(data);
          assert.deepEqual(await connection.next(), data);
        }
        const from = new Set(udp.received.slice(seen).map((each) => each.port));
        assert.equal(from.size, 1, 'the game server sees one address per browser');
        connection.close();
        await noSession();
      });
    }

    test('a channel that is reliable or ordered is refused', async (t) => {
      for (const options of [{}, { ordered: false }, { ordered: true, maxRetransmits: 0 }]) {
        const from = relay.log().length;
        const connection = await connect(t, relay.url, { stack, options });
        await connection.closed();
        await relay.logged(/must have ordered: false/, from);
        connection.close();
      }
      assert.equal(await sessions(), 0);
    });

    test('a closed channel and a closed connection free the session at once', async (t) => {
      const one = await open(t, relay.url, { stack });
      one.channel.close();
      await one.closed();
      await noSession();
      one.close();
      const other = await open(t, relay.url, { stack });
      await until('the session is open', async () => (await sessions()) === 1);
      other.close();
      await noSession();
    });

    test('DELETE ends it on both sides', async (t) => {
      const connection = await open(t, relay.url, { stack });
      const resource = new URL(connection.location, relay.url);
      // A worker passes requests on to the worker that they are for.
      const passed = workers > 1 ? [202] : [];
      const end = async () => (await fetch(resource, { method: 'DELETE' })).status;
      assert.ok([200, ...passed].includes(await end()));
      await connection.closed();
      assert.ok([404, ...passed].includes(await end()));
      await noSession();
      connection.close();
    });

    test('text ends the session, as on a WebSocket', async (t) => {
      const connection = await open(t, relay.url, { stack });
      const before = (await relay.stats()).sessions_ended_text;
      connection.channel.send('hello');
      await connection.closed();
      assert.equal((await relay.stats()).sessions_ended_text, before + 1);
      connection.close();
    });
  });
}

test('the answer tells all that a browser needs', async () => {
  const reply = await postOffer(relay.url, await makeOffer());
  assert.equal(reply.status, 201);
  assert.equal(reply.headers.get('content-type'), 'application/sdp');
  assert.match(
    reply.headers.get('location'),
    workers > 1 ? /^\/rtc\/[12]\/[0-9a-f]{38}$/ : /^\/rtc\/[0-9a-f]{38}$/,
  );
  const answer = await reply.text();
  for (const line of [
    /^a=ice-lite\r$/m,
    /^a=setup:passive\r$/m,
    /^a=ice-pwd:[A-Za-z0-9+/]{32}\r$/m,
    /^a=fingerprint:sha-256 ([0-9A-F]{2}:){31}[0-9A-F]{2}\r$/m,
    /^a=max-message-size:1400\r$/m,
    new RegExp(
      `^a=candidate:1 1 udp \\d+ 127\\.0\\.0\\.1 ${relay.rtcPorts[workerOf(reply)]} typ host\r$`,
      'm',
    ),
  ])
    assert.match(answer, line);
});

test('an offer may come as plain text too, which no browser asks about first', async () => {
  const offer = await makeOffer();
  for (const type of ['text/plain', 'text/plain;charset=UTF-8', 'Application/SDP ; a=b']) {
    const reply = await postOffer(relay.url, offer, { 'content-type': type });
    assert.equal(reply.status, 201);
    assert.equal(reply.headers.get('content-type'), 'application/sdp');
  }
});

test('a bad offer is refused with a reason and leaves nothing behind', async () => {
  const offer = await makeOffer();
  const cases = [
    ['', /not a session description/],
    ['v=0\r\n', /has no data channel/],
    [offer.replace(/a=ice-ufrag:.*\r\n/, ''), /a=ice-ufrag/],
    [offer.replace(/a=setup:actpass/, 'a=setup:passive'), /a=setup/],
    [offer.replace('sha-256', 'sha-1'), /a=fingerprint/],
    [`${offer}m=audio 9 UDP/TLS/RTP/SAVPF 111\r\n`, /more than one media section/],
  ];
  const before = await relay.stats();
  for (const [sdp, reason] of cases) {
    const reply = await postOffer(relay.url, sdp);
    assert.equal(reply.status, 400);
    assert.match(await reply.text(), reason);
    assert.equal(reply.headers.get('location'), null);
  }
  const long = await postOffer(relay.url, offer + 'a=x:y\r\n'.repeat(2000));
  assert.equal(long.status, 413);
  for (const type of ['application/json', 'text/plainer', 'application/sdp2', '']) {
    const wrong = await postOffer(relay.url, offer, { 'content-type': type });
    assert.equal(wrong.status, 415);
  }
  const got = await fetch(new URL('/rtc', relay.url));
  assert.equal(got.status, 405);
  const now = await relay.stats();
  assert.equal(now.rtc_offers, before.rtc_offers);
  assert.equal(now.rtc_offers_refused, before.rtc_offers_refused + cases.length);
});

test('pages of other origins are kept out, and allowed ones may read the answer', async (t) => {
  const strict = await serve(t, '--origin', 'https://a.example');
  const offer = await makeOffer();
  // The two bytes are one control character in UTF-8, with which a terminal begins a command.
  const refused = await postOffer(strict.url, offer, { origin: 'https://b\xc2\x9b1m.example' });
  assert.equal(refused.status, 403);
  await strict.logged(/a page of https:\/\/b\?.1m\.example refused/);
  const taken = await postOffer(strict.url, offer, { origin: 'https://a.example' });
  assert.equal(taken.status, 201);
  assert.equal(taken.headers.get('access-control-allow-origin'), 'https://a.example');
  assert.match(taken.headers.get('access-control-expose-headers'), /location/i);
  const asked = await fetch(new URL(taken.headers.get('location'), strict.url), {
    method: 'OPTIONS',
    headers: { origin: 'https://a.example', 'access-control-request-method': 'DELETE' },
  });
  assert.equal(asked.status, 204);
  assert.match(asked.headers.get('access-control-allow-methods'), /DELETE/);
  assert.match(asked.headers.get('access-control-allow-headers'), /content-type/);
  assert.equal(asked.headers.get('access-control-max-age'), '7200');
  assert.equal(await strict.stop(), 0);
});

test('what is advertised stands in the answer', async (t) => {
  const public_ = ['203.0.113.7', '[2001:db8::7]:9', '203.0.113.8:99'];
  const advertising = await serve(t, ...public_.flatMap((address) => ['--rtc-advertise', address]));
  const reply = await postOffer(advertising.url, await makeOffer());
  const answer = await reply.text();
  const worker = workerOf(reply);
  const candidates = [...answer.matchAll(/^a=candidate:\d+ 1 udp \d+ (\S+ \d+) typ host/gm)];
  assert.deepEqual(
    candidates.map(([, address]) => address),
    [
      `203.0.113.7 ${advertising.rtcPorts[worker]}`,
      `2001:db8::7 ${9 + worker}`,
      `203.0.113.8 ${99 + worker}`,
    ],
  );
});

test('one socket serves IPv4 and IPv6', async (t) => {
  const both = await startRelay(t, {
    upstream: udp.upstream,
    args: ['--listen', '[::1]:0', '--rtc', '[::]:0'],
  });
  const [, v6] = await both.logged(/listening on \[::1\]:(\d+)/);
  const connection = await open(t, both.url);
  assert.match(connection.answer, / 127\.0\.0\.1 \d+ typ host/);
  connection.channel.send(Buffer.from('four'));
  assert.equal(String(await connection.next()), 'four');
  connection.close();
  const reply = await postOffer(`http://[::1]:${v6}/`, await makeOffer());
  assert.match(await reply.text(), / ::1 \d+ typ host/);
});

test('without a port of its own it takes that of the first --listen', async (t) => {
  // Any free port of TCP is taken, which another program may have taken for UDP.
  const start = (tries) =>
    startRelay(t, { upstream: udp.upstream, args: ['--rtc', '127.0.0.1'] }).catch((error) => {
      if (tries === 1 || !error.message.includes('Address already in use')) throw error;
      return start(tries - 1);
    });
  const plain = await start(5);
  assert.equal(plain.rtcPort, plain.port);
  const reply = await postOffer(plain.url, await makeOffer());
  assert.match(
    await reply.text(),
    new RegExp(` 127\\.0\\.0\\.1 ${plain.port + workerOf(reply)} typ host`),
  );
});

test('a relay that cannot serve WebRTC does not say that it listens', async (t) => {
  const taken = await startUdpServer(t);
  const options = ['--listen', '127.0.0.1:0', '--upstream', '127.0.0.1:9'];
  const ended = await run([...options, '--rtc', `127.0.0.1:${taken.port}`]);
  assert.equal(ended.code, 1);
  assert.match(ended.stderr, /cannot open the UDP port/);
  assert.doesNotMatch(ended.stderr, /listening/);
});

test('without --rtc there is no such path', async (t) => {
  const plain = await startRelay(t, { upstream: udp.upstream });
  const reply = await postOffer(plain.url, await makeOffer());
  assert.ok(reply.status === 404 || reply.status === 405);
});

test('a relay that stops says so, and does not wait for the browser', async (t) => {
  const stopping = await serve(t);
  const connections = await Promise.all(stacks.map((stack) => open(t, stopping.url, { stack })));
  assert.equal(await stopping.stop(), 0);
  assert.doesNotMatch(stopping.log(), /did not close in time/);
  await Promise.all(connections.map((each) => each.closed()));
  for (const each of connections) each.close();
});

test('a silent session ends, and its browser is told', async (t) => {
  const impatient = await serve(t, '--idle-timeout', '0.3');
  const connection = await open(t, impatient.url);
  await connection.closed();
  assert.equal((await impatient.stats()).sessions_ended_idle, 1);
  connection.close();
});

test('limits of sessions hold for WebRTC', { skip: oneProcess }, async (t) => {
  const small = await serve(t, '--max-sessions', '1');
  const first = await open(t, small.url);
  first.channel.send(Buffer.from('here'));
  assert.equal(String(await first.next()), 'here');
  const second = await connect(t, small.url);
  await second.closed();
  second.close();
  first.channel.send(Buffer.from('still here'));
  assert.equal(String(await first.next()), 'still here');
  assert.equal((await small.stats()).sessions_refused_full, 1);
  first.close();
});

/** Has a browser flooded with 200 datagrams, and returns the relay's counters and the seconds that it took. */
async function floodBrowser(t) {
  const flood = await startUdpServer(t, {
    answer: () => Array(200).fill(Buffer.alloc(1000, 1)),
  });
  const args = [...RTC, '--peer-rate', '20000'];
  const slow = await startRelay(t, { upstream: flood.upstream, args });
  const connection = await open(t, slow.url);
  const began = performance.now();
  connection.channel.send(Buffer.from('go'));
  await connection.next();
  let now;
  // The counters of several workers are not of the same moment while datagrams come.
  const unsettled = () =>
    workers > 1 &&
    now.delivered_datagrams + now.dropped_rate + now.dropped_unproven !== now.upstream_datagrams;
  do now = await slow.stats();
  while (now.upstream_datagrams <= 50 || unsettled());
  const seconds = (performance.now() - began) / 1000;
  connection.close();
  return { now, seconds };
}

test('the rate towards a browser is bounded, and what is over is counted', async (t) => {
  // On a busy machine the flood may come before the browser's address is proven, which bounds it too.
  let { now, seconds } = await floodBrowser(t);
  for (let i = 0; i < 4 && now.dropped_unproven > 0; i++)
    ({ now, seconds } = await floodBrowser(t));
  assert.equal(now.delivered_datagrams + now.dropped_rate, now.upstream_datagrams);
  // Half a second's worth goes out at once, at 1,093 bytes each, and then more as time passes.
  assert.ok(now.delivered_datagrams >= 9);
  assert.ok(now.delivered_datagrams <= 10 + (seconds * 20_000) / 1093);
  assert.ok(now.dropped_rate > 0);
});

test('by default 64 KB may go to a browser at once, as ENet sends them', async (t) => {
  const bulk = await startUdpServer(t, { answer: () => Array(47).fill(Buffer.alloc(1400, 1)) });
  const relay = await startRelay(t, { upstream: bulk.upstream, args: RTC });
  const connection = await open(t, relay.url);
  // A browser that has not proven yet where it is, as on a slow machine, gets less; then the next burst counts.
  let now = await relay.stats();
  let unproven;
  do {
    unproven = now.dropped_unproven;
    const all = now.upstream_datagrams + 47;
    connection.channel.send(Buffer.from('go'));
    // The client's socket may have no room for all of it when this machine is slow.
    await until('all has gone out', async () => {
      now = await relay.stats();
      return now.delivered_datagrams + now.dropped_unproven === all;
    });
  } while (now.dropped_unproven > unproven);
  assert.equal((await connection.next()).length, 1400);
  assert.equal(now.dropped_rate, 0);
  connection.close();
});

test('strangers on the UDP port get no answer', async () => {
  const offer = await makeOffer();
  const answer = await (await postOffer(relay.url, offer)).text();
  const ufrag = /a=ice-ufrag:(\S+)/.exec(answer)[1];
  const socket = createSocket('udp4');
  let answers = 0;
  socket.on('message', () => answers++);
  socket.connect(relay.rtcPort, '127.0.0.1');
  await once(socket, 'connect');
  const { rtc_packets_ignored: before } = await relay.stats();
  const theirs = /a=ice-ufrag:(\S+)/.exec(offer)[1];
  const packets = [
    Buffer.from([22, 254, 253, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1, 1]), // DTLS
    Buffer.from([0, 1, 0, 0, 0x21, 0x12, 0xa4, 0x42, ...Array(12).fill(7)]), // STUN without attributes
    Buffer.from(`GET / HTTP/1.1\r\n\r\n`),
    Buffer.from([0x80, 96, 0, 0]), // RTP
    bindingRequest(`${ufrag}:${theirs}`, 'not the password, by far'),
    bindingRequest(`ffffff${ufrag.slice(6)}:${theirs}`, 'x'),
  ];
  for (const packet of packets) socket.send(packet);
  await until(
    'all are ignored',
    async () => (await relay.stats()).rtc_packets_ignored === before + packets.length,
  );
  assert.equal(answers, 0);
  socket.close();
});

/** Makes a connectivity check, signed with any password, with a right checksum. */
function bindingRequest(username, password) {
  const attribute = (type, value) => {
    const padded = Buffer.alloc(4 + Math.ceil(value.length / 4) * 4);
    padded.writeUInt16BE(type, 0);
    padded.writeUInt16BE(value.length, 2);
    value.copy(padded, 4);
    return padded;
  };
  const header = Buffer.from([0, 1, 0, 0, 0x21, 0x12, 0xa4, 0x42, ...Array(12).fill(9)]);
  const name = attribute(0x0006, Buffer.from(username));
  header.writeUInt16BE(name.length + 24, 2);
  const signature = createHmac('sha1', password).update(header).update(name).digest();
  const signed = Buffer.concat([header, name, attribute(0x0008, signature)]);
  signed.writeUInt16BE(signed.length - 20 + 8, 2);
  const check = Buffer.alloc(4);
  check.writeUInt32BE((crc32(signed) ^ 0x5354554e) >>> 0);
  return Buffer.concat([signed, attribute(0x8028, check)]);
}

function crc32(bytes) {
  let crc = ~0;
  for (const byte of bytes) {
    crc ^= byte;
    for (let bit = 0; bit < 8; bit++) crc = (crc >>> 1) ^ (crc & 1 ? 0xedb88320 : 0);
  }
  return ~crc;
}

test('a browser whose address changes goes on without a new handshake', async (t) => {
  const path = await startUdpPath(t, relay.rtcPort);
  const connection = await open(t, relay.url, { edit: path.edit });
  connection.channel.send(Buffer.from('before'));
  assert.equal(String(await connection.next()), 'before');
  const { rtc_offers: offers } = await relay.stats();
  path.roam();
  const echoed = await until('an echo', () => {
    connection.channel.send(Buffer.from('after'));
    return connection.next(200).catch(() => undefined);
  });
  assert.equal(String(echoed), 'after');
  const now = await relay.stats();
  assert.equal(now.rtc_offers, offers);
  assert.equal(now.sessions_open, 1);
  connection.close();
  await noSession();
});

for (const stack of stacks)
  test(`the set-up by ${stack.name} survives the loss of any one datagram`, async (t) => {
    const lost = ['up', 'down'].flatMap((way) =>
      [1, 2, 3, 4, 5, 6, 7, 8].map((number) => ({ way, number })),
    );
    await Promise.all(
      lost.map(async ({ way, number }) => {
        const path = await startUdpPath(
          t,
          relay.rtcPort,
          (_, ...which) => `${which}` === `${way},${number}`,
        );
        const connection = await open(t, relay.url, { stack, edit: path.edit });
        // The datagram that is lost may be one of these; the goodbye must not get lost.
        let echoed = 0;
        for (let tries = 0; echoed < 9 && tries < 100; tries++) {
          connection.channel.send(Buffer.from(`${way} ${number}`));
          echoed += await connection.next(500).then(
            () => 1,
            () => 0,
          );
        }
        assert.equal(echoed, 9);
        connection.close();
      }),
    );
    await noSession();
  });

/** Posts an offer as postOffer does, but at a fraction of the work: offers expire, and a busy machine makes few. */
const postBare = (t, port, sdp) =>
  replyTo(
    t,
    port,
    'POST /rtc HTTP/1.1\r\nHost: a\r\nContent-Type: application/sdp\r\n' +
      `Content-Length: ${sdp.length}\r\n\r\n${sdp}`,
  );

test('a thousand offers that wait do not harm the connected', async (t) => {
  const busy = await serve(
    t,
    '--max-sessions-per-address',
    '0',
    '--max-sessions', // the number of offers that may come at once; any share of them may come to one worker
    String(1100 * workers),
    '--request-timeout', // long, as the connected say nothing meanwhile
    '600',
  );
  const connection = await open(t, busy.url);
  const offer = await makeOffer();
  for (let i = 0; i < 20; i++) {
    const posts = Array.from({ length: 50 }, () => postBare(t, busy.port, offer));
    for (const reply of await Promise.all(posts)) assert.match(reply, /^HTTP\/1\.1 201 /);
  }
  // The test hostile_rtc_work_offers.c counts the cost of that.
  connection.channel.send(Buffer.from('still here'));
  assert.equal(String(await connection.next()), 'still here');
  const another = await open(t, busy.url);
  another.close();
  connection.close();
  await until('only the offers are left', async () => (await busy.stats()).sessions_open === 0);
});

test('a backend gets the tickets of its players, as a trusted proxy', async (t) => {
  const strict = await serve(t, '--origin', 'https://a.example', '--trusted-proxy', '127.0.0.1');
  const ask = (origin) => {
    const headers = { origin, 'x-forwarded-for': '192.0.2.7' };
    return fetch(`${strict.url}rtc/ticket`, { method: 'POST', headers });
  };
  const answer = await (await ask('https://a.example')).text();
  const ticket = Buffer.from(/x-causeway-ticket:(\S+)/.exec(answer)[1], 'base64');
  assert.equal(ticket.subarray(5, 21).toString('hex'), `${'0'.repeat(20)}ffffc0000207`);
  assert.match(answer, /127\.0\.0\.1 [1-9]\d* typ/);
  assert.equal((await ask('https://b.example')).status, 403);
  assert.equal((await strict.stats()).rtc_offers, 0);
});

test(
  'a reload that removes an origin makes its tickets worthless',
  { skip: oneProcess },
  async (t) => {
    const file = join(temporaryFolder(t), 'relay.conf');
    writeFileSync(file, 'origin = https://a.example\n');
    const strict = await serve(t, '--config', file);
    const headers = { origin: 'https://a.example' };
    const reply = await fetch(`${strict.url}rtc/ticket`, { method: 'POST', headers });
    const last = await reply.text();
    const [, password] = /pwd:(\S+)/.exec(last);
    const socket = createSocket('udp4');
    own(t, () => socket.close());
    const claim = (certificate) => {
      const answer = answerTo(`sha-256 ${certificate}`, last, { session: newKey() });
      const [, ufrag] = /ufrag:(\S+)/.exec(answer);
      socket.send(bindingRequest(`${ufrag}:page`, password), strict.rtcPort, '127.0.0.1');
    };
    const judged = (count) =>
      until('the claims are judged', async () => {
        const { rtc_offers: taken, rtc_packets_ignored: ignored } = await strict.stats();
        return taken + ignored === count && [taken, ignored];
      });
    claim('01'.repeat(32));
    assert.deepEqual(await judged(1), [1, 0]);
    writeFileSync(file, 'origin = https://b.example\n');
    strict.kill('SIGHUP');
    await strict.logged(/reloaded the options/);
    claim('02'.repeat(32));
    assert.deepEqual(await judged(2), [1, 1]);
  },
);

test('offers that wait are bounded per address', async (t) => {
  const guarded = await serve(t, '--max-sessions-per-address', '5');
  const offer = await makeOffer();
  // Each worker gets one more than all take together.
  const statuses = [];
  for (let i = 0; i <= 5 * workers; i++)
    statuses.push((await postOffer(guarded.url, offer)).status);
  assert.ok(statuses.slice(0, 5).every((status) => status === 201));
  const refused = statuses.filter((status) => status === 503).length;
  assert.ok(refused >= 1);
  assert.equal((await guarded.stats()).rtc_offers_full, refused);
});

test('options that cannot work are refused with a reason', async (t) => {
  const taken = await startUdpServer(t);
  const noFile = ['--rtc', '127.0.0.1:0', '--rtc-certificate', '/no/file', '--rtc-key', '/no/file'];
  const cases = [
    [['--rtc', 'example.com'], 2, /--rtc needs an IP address/],
    [['--rtc-advertise', 'example.com'], 2, /--rtc-advertise needs an IP address/],
    [['--peer-rate', '-1'], 2, /--peer-rate needs a number/],
    [['--rtc-key', 'key.pem'], 2, /go together/],
    [['--rtc', `127.0.0.1:${taken.port}`], 1, /cannot open the UDP port/],
    [noFile, 2, /no certificate for WebRTC: cannot use \/no\/file: No such file or directory$/m],
    [
      ['--rtc', '127.0.0.1:65535', '--workers', '2'],
      1,
      /of 2 workers from 65535 on: the last port/,
    ],
    [[...noFile, '--workers', '2'], 2, /^\S+ error no certificate for WebRTC: .*\n$/],
  ];
  for (const [options, code, reason] of cases) {
    const ended = await run(['--listen', '127.0.0.1:0', '--upstream', '127.0.0.1:9', ...options]);
    assert.equal(ended.code, code, options.join(' '));
    assert.match(ended.stderr, reason);
  }
});
