// A fuzzer for two who share a session, while the operator steers and reloads: strangers with a few keys and
// addresses open links, speak, close and vanish, over WebSocket and with offers of WebRTC; sessions are listed and
// ended, addresses blocked, options changed. No honest player notices, and nothing is left of it.
//
//   CAUSEWAY_FUZZ_STEPS  how many things are done (default 500)
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { readFileSync, renameSync, writeFileSync } from 'node:fs';
import http from 'node:http';
import net from 'node:net';
import test from 'node:test';
import { askAdmin } from './admin.mjs';
import { startRig } from './hostile_rig.mjs';
import { newKey, PROTOCOL, protocolsOf, withKey } from './links.mjs';
import { patiently, sleep, until } from '../support/patience.mjs';
import { statsUntil } from '../support/relay.mjs';
import { binaryFrame, handshake } from '../support/websocket.mjs';
import { temporaryFolder } from '../support/fixture.mjs';
import { SEED, choicesFrom } from '../support/random.mjs';
import { childrenOf, descriptorsOf } from '../support/programs.mjs';

const STEPS = Number(process.env.CAUSEWAY_FUZZ_STEPS ?? 500);
const LINKS = 12; // links at a time
const ADDRESSES = 8;
const SESSIONS = 4; // sessions of honest players

const offer = readFileSync(new URL('../fuzz/corpus/sdp/chromium', import.meta.url), 'latin1');
const folder = temporaryFolder(test);
const config = `${folder}/relay.conf`;

/** The texts that a reload finds. None of their valid options concerns the honest players. */
const files = [
  '',
  'max-sessions-per-address = 1\n',
  'max-sessions-per-address = 3\nresume-seconds = 0\n',
  'resume-seconds = 1\nidle-timeout = 60\n',
  'resume-seconds = 600\n',
  'request-timeout = 1\nanswer-timeout = 1\n',
  'origin = https://a.example\nlog-level = debug\n',
  'upstream-packets = 100\npeer-rate = 1000\ncoalesce-us = 300\n',
  'max-sessions-per-address = many\n',
  '[nonsense',
  '\0',
];

const close = (code) =>
  Buffer.from([0x88, code ? 0x82 : 0x80, 0, 0, 0, 0, ...(code ? [code >> 8, code & 0xff] : [])]);

const descriptors = ({ pid }) =>
  [pid, ...childrenOf(pid)].reduce((sum, each) => sum + descriptorsOf(each), 0);

/** Makes the strangers, and the steps that they can take. */
function strangers(relay, adminPort, random) {
  const keys = Array.from({ length: 4 }, newKey);
  const links = [];
  const waiting = [];
  const stranger = () => `127.9.0.${1 + random.below(ADDRESSES)}`;
  const some = () => random.pick(links);
  const frames = () =>
    Buffer.concat(
      Array.from({ length: 1 + random.below(4) }, () =>
        binaryFrame(random.bytes(random.pick([1, 30, 1200]))),
      ),
    );
  const ask = (path, more) => {
    const answer = askAdmin(adminPort, path, more).catch(() => {});
    waiting.push(answer);
    return answer;
  };
  /** Sends a request from a stranger; resolves with the URL of its answer. */
  const post = (method, path, body) =>
    new Promise((resolve) => {
      const to = { host: '127.0.0.1', port: relay.port, localAddress: stranger(), agent: false };
      const headers = { 'content-type': 'application/sdp', 'content-length': body.length };
      const request = http.request({ ...to, method, path, headers }, (response) => {
        response.resume().once('close', () => resolve(response.headers.location));
      });
      request.once('error', () => resolve());
      request.end(body);
    });
  const steps = {
    open() {
      const socket = net.connect({
        port: relay.port,
        host: '127.0.0.1',
        localAddress: stranger(),
        allowHalfOpen: random.chance(0.2),
      });
      socket.on('error', () => {});
      if (random.chance(0.9)) socket.resume();
      const protocols = random.mostly(protocolsOf(random.pick(keys)), [PROTOCOL]).join(', ');
      socket.write(handshake.replace(PROTOCOL, protocols));
      if (random.chance(0.6)) socket.write(frames());
      if (random.chance(0.1)) socket.write(close(1000));
      links.push(socket);
      if (links.length > LINKS) links.shift().destroy();
    },
    async hear() {
      const socket = some();
      if (socket?.readyState === 'open' && !socket.isPaused())
        await Promise.race([once(socket, 'data').catch(() => {}), sleep(20)]);
    },
    say: () => some()?.write(frames()),
    close: () => some()?.write(close(random.pick([0, 1000, 1001, 1002, 4003]))),
    end: () => some()?.end(),
    reset: () => some()?.resetAndDestroy(),
    read: () => some()?.resume(),
    pause: () => some()?.pause(),
    offer() {
      const made = post('POST', '/rtc', Buffer.from(withKey(offer, random.pick(keys)), 'latin1'));
      const over = random.chance(0.5);
      waiting.push(made.then((where) => over && where && post('DELETE', where, '')));
    },
    list: () => ask(`/sessions?limit=${1 + random.below(20)}`),
    look: () => ask(random.pick(['/metrics', '/readyz', '/blocks', '/sessions/'])),
    async end_one() {
      const { text } = await askAdmin(adminPort, '/sessions');
      const theirs = JSON.parse(text).sessions.filter(({ client }) => client.startsWith('127.9.'));
      if (theirs.length > 0) ask(`/sessions/${random.pick(theirs).id}`, { method: 'DELETE' });
    },
    async block() {
      const prefix = random.mostly(stranger(), '127.9.0.0/16', '::1', 'x');
      await ask('/blocks', { method: 'POST', body: `prefix=${prefix}&seconds=100` });
      for (let left = 3; left > 0; left--) await steps[random.pick(often)]();
      ask(`/blocks/${prefix}`, { method: 'DELETE' });
    },
    half() {
      const socket = net.connect(adminPort, '127.0.0.1');
      socket.on('error', () => {});
      socket.write(`GET /sessions HTTP/1.1\r\nHost: 127.0.0.1\r\n${random.pick(['', '\r\n'])}`);
      waiting.push(once(socket, 'connect').then(() => socket.resetAndDestroy()));
    },
    reload() {
      const text = random.pick(files);
      if (random.chance(0.7)) {
        writeFileSync(`${config}.new`, text);
        renameSync(`${config}.new`, config);
      } else {
        writeFileSync(config, text);
      }
      for (let left = random.pick([1, 1, 3]); left > 0; left--) relay.kill('SIGHUP');
    },
    count: () => relay.kill('SIGUSR1'),
  };
  const often = ['open', 'open', 'open', 'hear', 'hear', 'say', 'say', 'close', 'reset', 'end'];
  const names = [...often, ...often, ...often, ...Object.keys(steps)];
  return {
    step: () => steps[random.pick(names)](),
    async leave() {
      for (const socket of links) socket.destroy();
      await patiently(Promise.all(waiting), 'the answers');
    },
  };
}

for (const workers of [1, 2])
  test(`pairs of links, admin and reload, with ${workers} serving`, async (t) => {
    t.diagnostic(`CAUSEWAY_SEED=${SEED}`);
    writeFileSync(config, '');
    const several = workers > 1 ? ['--workers', String(workers)] : [];
    const args = ['--rtc', '127.0.0.1:0', '--admin', '127.0.0.1:0', '--config', config, ...several];
    const rig = await startRig(t, { raw: true, sessions: SESSIONS, args });
    const { relay } = rig;
    const [, port] = await relay.logged(/admin listener on 127\.0\.0\.1:(\d+)\n/);
    const before = descriptors(relay);
    const crowd = strangers(relay, Number(port), choicesFrom(SEED));
    for (let i = 0; i < STEPS; i++) {
      await crowd.step();
      if (i % 4 === 0) await sleep(i % 3);
    }
    await crowd.leave();
    // Lost sessions wait no longer, and nobody is blocked.
    writeFileSync(config, 'resume-seconds = 0.1\nrequest-timeout = 1\nanswer-timeout = 1\n');
    const from = relay.log().length;
    relay.kill('SIGHUP');
    await relay.logged(/reloaded the options\n/, from);
    await statsUntil(relay, ({ sessions_open }) => sessions_open === SESSIONS);
    await rig.newcomer({ localAddress: '127.2.1.1' });
    await until(
      `the end of ${descriptors(relay) - before} descriptors`,
      () => descriptors(relay) <= before,
      50,
    );
    const { text } = await askAdmin(Number(port), '/sessions');
    assert.equal(JSON.parse(text).sessions.length, SESSIONS);
    await rig.check();
    relay.kill('SIGTERM');
    assert.deepEqual(await relay.ended(), { code: 0, signal: null });
  });
