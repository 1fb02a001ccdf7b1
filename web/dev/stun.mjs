// Asks a relay whether UDP passes, as the ICE of a browser does: an offer over HTTP, then STUN binding requests (RFC 8489)
// to each address in the answer. Every other request is as long as the longest packet of a game.
import { createHmac, randomBytes } from 'node:crypto';
import { createSocket } from 'node:dgram';
import { setTimeout } from 'node:timers/promises';
import { crc32 } from 'node:zlib';
import { ConnectError, relaySays } from '../dist/errors.js';
import { Fault, Skipped } from '../dist/doctor/faults.js';
import { judge, milliseconds, percent } from '../dist/doctor/path.js';

/** This many pairs of requests are counted. Others follow until an answer shows that none is late. */
const PAIRS = 20;
const INTERVAL_MS = 20;
/** A relay has at most so many addresses. A hostile one could name any number of other machines. */
const ADDRESSES = 8;
/** A relay reads requests of up to this many bytes. */
const LARGE = 1200;

const attribute = (type, value) => {
  const padded = Buffer.alloc(4 + Math.ceil(value.length / 4) * 4);
  padded.writeUInt16BE(type, 0);
  padded.writeUInt16BE(value.length, 2);
  padded.set(value, 4);
  return padded;
};

/** Returns a signed binding request. `size` has it padded with an attribute that nobody knows. */
function bindingRequest(id, username, password, size) {
  const head = Buffer.alloc(20);
  head.writeUInt16BE(1, 0);
  head.writeUInt32BE(0x2112a442, 4);
  head.set(id, 8);
  let request = Buffer.concat([head, attribute(0x0006, Buffer.from(username))]);
  const rest = size - request.length - 24 - 8;
  if (rest >= 4) request = Buffer.concat([request, attribute(0xff00, Buffer.alloc(rest - 4))]);
  const add = (type, length, valueOf) => {
    request.writeUInt16BE(request.length - 20 + 4 + length, 2);
    request = Buffer.concat([request, attribute(type, valueOf(request))]);
  };
  add(0x0008, 20, (bytes) => createHmac('sha1', password).update(bytes).digest());
  add(0x8028, 4, (bytes) => {
    const sum = Buffer.alloc(4);
    sum.writeUInt32BE((crc32(bytes) ^ 0x5354554e) >>> 0);
    return sum;
  });
  return request;
}

/** Posts an offer. Returns the names and addresses of the relay's end. */
async function offer(relay, { origin, server, signal }) {
  const ufrag = randomBytes(6).toString('hex');
  const fingerprint = Array.from(randomBytes(32), (byte) => byte.toString(16).padStart(2, '0'));
  const lines = [
    ...['v=0', 'o=- 1 1 IN IP4 0.0.0.0', 's=-', 't=0 0'],
    ...(server ? [`a=x-causeway-server:${server}`] : []),
    ...['m=application 9 UDP/DTLS/SCTP webrtc-datachannel', 'c=IN IP4 0.0.0.0', 'a=mid:0'],
    ...[`a=ice-ufrag:${ufrag}`, `a=ice-pwd:${randomBytes(12).toString('hex')}`],
    `a=fingerprint:sha-256 ${fingerprint.join(':').toUpperCase()}`,
    ...['a=setup:actpass', 'a=sctp-port:5000', ''],
  ];
  const response = await fetch(new URL('rtc', relay), {
    method: 'POST',
    headers: { 'content-type': 'text/plain', ...(origin && { origin }) },
    body: lines.join('\r\n'),
    signal,
  });
  const answer = await response.text();
  const { code, means } = relaySays(response.status) ?? {};
  if (code === 'NO_RTC') throw new Skipped(`the relay ${means}`);
  if (code) throw new ConnectError(code, 'signalling', `the relay ${means}`);
  if (response.status !== 201) throw new Skipped(`no answer to an offer: ${response.status}`);
  const value = (pattern) => pattern.exec(answer)?.[1] ?? '';
  return {
    // The path alone: a hostile relay could name another host.
    session: new URL(new URL(response.headers.get('location') ?? '', relay).pathname, relay),
    username: `${value(/a=ice-ufrag:(\S+)/)}:${ufrag}`,
    password: value(/a=ice-pwd:(\S+)/),
    addresses: [...answer.matchAll(/^a=candidate:\S+ 1 udp \d+ (\S+) (\d+) typ/gm)].slice(
      0,
      ADDRESSES,
    ),
  };
}

const mean = (values) => values.reduce((sum, value) => sum + value, 0) / (values.length || 1);

/** Returns what the answers show, for people. `answered` has the numbers of their requests, which began with 0. */
function report(where, answered, times) {
  if (answered.length === 0) throw new Fault('UDP_BLOCKED', `no answer over UDP from ${where}`);
  // Later requests than the newest one that has been answered may still be under way.
  const counted = Math.min(Math.max(...answered) + 1, 2 * PAIRS);
  const [small, large] = [0, 1].map(
    (odd) => answered.filter((number) => number < counted && number % 2 === odd).length,
  );
  const loss = 1 - (small + large) / counted;
  // Each answer has come two ways.
  judge(small, counted / 2, large, loss / 2);
  const steps = times.slice(1).map((time, i) => Math.abs(time - times[i]));
  const [rtt, jitter] = [times, steps].map((values) => milliseconds(mean(values) / 1000));
  return `${where} answers: round trip ${rtt}, jitter ${jitter}, loss ${percent(loss)}`;
}

/** Sends requests to one address until enough were answered. */
async function ask({ username, password }, [, host, port], timeoutSeconds) {
  const socket = createSocket(host.includes(':') ? 'udp6' : 'udp4');
  const end = performance.now() + timeoutSeconds * 1000;
  /** The number and time of each request, by its id. */
  const sent = new Map();
  const answered = [];
  const times = [];
  let isDone = false;
  socket.on('message', (answer) => {
    const request = sent.get(answer.toString('hex', 8, 20));
    if (!request || answer.readUInt16BE(0) !== 0x0101) return;
    times.push(performance.now() - request.time);
    answered.push(request.number);
    isDone ||= request.number >= 2 * PAIRS;
  });
  socket.on('error', () => {}); // Without an address of this kind, nothing can be sent.
  const send = () => {
    const number = sent.size;
    const id = randomBytes(12);
    sent.set(id.toString('hex'), { number, time: performance.now() });
    const size = number % 2 && number < 2 * PAIRS ? LARGE : 0;
    socket.send(bindingRequest(id, username, password, size), Number(port), host);
  };
  while (!isDone && performance.now() < end) {
    send();
    send();
    await setTimeout(INTERVAL_MS);
  }
  socket.close();
  return report(`${host} port ${port}`, answered, times);
}

/**
 * Returns what UDP to the relay is like, for people.
 * @throws the fault that was found
 */
export async function probeUdp(relay, { timeoutSeconds, ...options }) {
  const signal = AbortSignal.timeout(timeoutSeconds * 1000);
  const names = await offer(relay, { ...options, signal });
  try {
    return await Promise.any(names.addresses.map((one) => ask(names, one, timeoutSeconds)));
  } catch ({ errors }) {
    throw errors.find(({ code }) => code !== 'UDP_BLOCKED') ?? errors[0];
  } finally {
    await fetch(names.session, { method: 'DELETE' }).catch(() => {});
  }
}
