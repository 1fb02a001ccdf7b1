// Upstreams have names: the DNS says how long an answer is good for.
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import dgram from 'node:dgram';
import { writeFileSync } from 'node:fs';
import path from 'node:path';
import test from 'node:test';
import { until } from '../support/patience.mjs';
import { runProgram } from '../support/programs.mjs';
import { startRelay } from '../support/relay.mjs';
import { startUdpServer } from '../support/udp_server.mjs';
import { connect } from '../support/websocket.mjs';
import { own, temporaryFolder } from '../support/fixture.mjs';
import { enterOwnNetwork, isInside } from '../support/own_network.mjs';

// A DNS server of our own needs a network and files of our own: this file starts itself again
// inside of them.
const folder = temporaryFolder(test);

/** Puts a file in the place of one of the system's. */
function replace(name, text) {
  const file = path.join(folder, path.basename(name));
  writeFileSync(file, text);
  execFileSync('mount', ['--bind', file, name]);
}

/** Returns the name and the type in a question, and its bytes. */
function readQuestion(query) {
  const labels = [];
  let at = 12;
  for (; query[at] > 0; at += 1 + query[at])
    labels.push(query.toString('latin1', at + 1, at + 1 + query[at]));
  return {
    name: labels.join('.'),
    type: query.readUInt16BE(at + 1),
    bytes: query.subarray(12, at + 5),
  };
}

const TYPE_A = 1;

/** Returns the answer to a question: an address with its time to live, nothing, or that there is no such name. */
function reply(query, question, record) {
  const answers = record && question.type === TYPE_A ? 1 : 0;
  const head = Buffer.alloc(12);
  query.copy(head, 0, 0, 2);
  head.writeUInt16BE(0x8580 | (record ? 0 : 3), 2); // an answer, or NXDOMAIN
  head.writeUInt16BE(1, 4);
  head.writeUInt16BE(answers, 6);
  if (!answers) return Buffer.concat([head, question.bytes]);
  const resource = Buffer.from([0xc0, 12, 0, TYPE_A, 0, 1, 0, 0, 0, 0, 0, 4, 0, 0, 0, 0]);
  resource.writeUInt32BE(record.ttl, 6);
  Buffer.from(record.address.split('.').map(Number)).copy(resource, 12);
  return Buffer.concat([head, question.bytes, resource]);
}

/** Answers from `records`, by name; a function in it returns the record for the question with a number. */
async function startNames(t, records) {
  const socket = dgram.createSocket('udp4');
  const asked = new Map(); // the times of the questions, by name
  socket.on('message', (query, from) => {
    const question = readQuestion(query);
    const times = asked.get(question.name) ?? [];
    asked.set(question.name, times);
    if (question.type === TYPE_A) times.push(performance.now());
    const record = records[question.name];
    const answer = typeof record === 'function' ? record(times.length) : record;
    socket.send(reply(query, question, answer), from.port, from.address);
  });
  await new Promise((resolve) => socket.bind(53, '127.0.0.1', resolve));
  own(t, () => socket.close());
  return {
    isAsked: (name) => asked.has(name),
    /** Returns the times in seconds when a name was asked for; several questions at once are one. */
    rounds: (name) =>
      asked
        .get(name)
        .map((time) => time / 1000)
        .filter((time, i, times) => i === 0 || time - times[i - 1] > 1),
  };
}

/** Returns whether a page reaches a server. */
async function reaches(t, relay, { address, port }) {
  const link = await connect(t, relay, {
    protocols: ['causeway.v1', `causeway.server.${address}_${port}`],
  });
  link.send(Buffer.from('hello'));
  const refused = link.closed().then(({ code }) => {
    assert.equal(code, 4006);
    return false;
  });
  return Promise.race([link.received(1).then(() => true), refused]).finally(() => link.close());
}

if (!isInside) {
  enterOwnNetwork(import.meta.url, '-rnm', 'mount --bind /dev/null /etc/resolv.conf');
} else {
  test('a name is asked for again when its time is over, and not before', async (t) => {
    replace('/etc/resolv.conf', 'nameserver 127.0.0.1\n');
    replace('/etc/nsswitch.conf', 'hosts: files dns\n');
    replace('/etc/hosts', '127.0.3.1 file.example\n');
    const records = {
      'short.example': { address: '127.0.1.1', ttl: 1 },
      'long.example': { address: '127.0.2.1', ttl: 60 },
      'file.example': { address: '127.0.3.2', ttl: 1 },
      // The name fails once while the relay runs.
      'failing.example': (number) =>
        number === 2 ? null : { address: number < 2 ? '127.0.4.1' : '127.0.4.2', ttl: 60 },
      'late.example': null,
    };
    const names = await startNames(t, records);
    const server = async (host) => {
      const { port } = await startUdpServer(t, { host });
      return { address: host, port };
    };
    const at = {};
    for (const host of ['1.1', '1.2', '2.1', '2.2', '3.1', '3.2', '4.1', '4.2', '5.1'])
      at[host] = await server(`127.0.${host}`);
    const relay = await startRelay(t, {
      args: Object.keys(records).flatMap((name) => ['--upstream', `${name}:1-65535`]),
    });
    await relay.logged(
      /warn {2}cannot resolve the upstream late\.example: .*; it is looked up again/,
    );
    await relay.logged(/cannot resolve the upstream failing\.example: .*; what was known of it/);
    for (const host of ['1.1', '2.1', '3.1', '4.1'])
      assert.ok(await reaches(t, relay, at[host]), host);
    for (const host of ['1.2', '2.2', '3.2', '4.2', '5.1'])
      assert.ok(!(await reaches(t, relay, at[host])), host);

    records['short.example'].address = '127.0.1.2';
    records['long.example'].address = '127.0.2.2';
    records['late.example'] = { address: '127.0.5.1', ttl: 60 };
    for (const host of ['1.2', '4.2', '5.1'])
      await until(`the new address of ${host}`, () => reaches(t, relay, at[host]), 100);
    assert.ok(!(await reaches(t, relay, at['1.1'])), 'the old address');
    for (const host of ['2.1', '3.1']) assert.ok(await reaches(t, relay, at[host]), host);
    assert.deepEqual(
      ['long.example', 'file.example'].map((name) => names.rounds(name).length),
      [1, 1],
    );
    // A time that is too short would harm the resolver: it counts as five seconds.
    const [first, second] = names.rounds('short.example');
    assert.ok(second - first > 4, `asked again after ${second - first} seconds`);
    // A program that asks a relay for something at an address has no name to ask for.
    const load = ['--transport', 'webrtc', '--players', '1', '--seconds', '0'];
    await runProgram(process.env.CAUSEWAY_LOAD, [...load, `ws://127.0.0.1:${relay.port}/`]);
    assert.ok(!names.isAsked('127.0.0.1'));
  });
}
