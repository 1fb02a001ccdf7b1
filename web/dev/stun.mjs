// Asks a relay whether UDP passes, as the ICE of a browser does: an offer over HTTP, then STUN binding requests (RFC 8489)
// to each address in the answer. Every other request is as long as the longest packet of a game.
import { createHmac, randomBytes } from 'node:crypto';
import { createSocket } from 'node:dgram';
import { crc32 } from 'node:zlib';
import { ConnectError, relaySays } from '../dist/errors.js';
import { Fault, Skipped } from '../dist/doctor/faults.js';
import { judge, milliseconds, percent } from '../dist/doctor/path.js';

/** So many pairs of requests are counted, and others follow until an answer shows that none is late. */
const PAIRS = 20;
const INTERVAL_MS = 20;
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
    session: new URL(response.headers.get('location') ?? '', relay),
    username: `${value(/a=ice-ufrag:(\S+)/)}:${ufrag}`,
    password: value(/a=ice-pwd:(\S+)/),
    addresses: [...answer.matchAll(/^a=candidate:\S+ 1 udp \d+ (\S+) (\d+) typ/gm)],
  };
}

/** Sends requests to one address, and counts the answers. */
function ask({ username, password }, [, host, port], timeoutSeconds) {
  const { promise, resolve, reject } = Promise.withResolvers?.() ?? withResolvers();
  const socket = createSocket(host.includes(':') ? 'udp6' : 'udp4');
  const began = performance.now();
  /** The time of each request, by its id. */
  const sent = new Map();
  const counted = { small: 0, large: 0 };
  const times = [];
  const end = () => {
    const answered = counted.small + counted.large;
    if (answered === 0)
      return reject(new Fault('UDP_BLOCKED', `no answer over UDP from ${host} port ${port}`));
    const loss = 1 - answered / (2 * PAIRS);
    const rtt = times.reduce((sum, time) => sum + time, 0) / times.length;
    const steps = times.slice(1).map((time, i) => Math.abs(time - times[i]));
    const jitter = steps.reduce((sum, step) => sum + step, 0) / (steps.length || 1);
    const [a, b] = [rtt / 1000, jitter / 1000].map(milliseconds);
    try {
      // Each answer has come two ways.
      judge(counted.small, PAIRS, counted.large, loss / 2);
      resolve(`${host} port ${port} answers: round trip ${a}, jitter ${b}, loss ${percent(loss)}`);
    } catch (error) {
      reject(error);
    }
  };
  socket.on('message', (answer) => {
    const request = sent.get(answer.toString('hex', 8, 20));
    if (!request || answer.readUInt16BE(0) !== 0x0101) return;
    times.push(performance.now() - request.time);
    if (request.number >= 2 * PAIRS) return end();
    counted[request.number % 2 ? 'large' : 'small']++;
    if (counted.small + counted.large === 2 * PAIRS) end();
  });
  socket.on('error', (error) => reject(new Fault('UDP_BLOCKED', String(error))));
  const timer = setInterval(() => {
    if (performance.now() - began > timeoutSeconds * 1000) return end();
    for (let i = 0; i < 2; i++) {
      const number = sent.size;
      const id = randomBytes(12);
      sent.set(id.toString('hex'), { number, time: performance.now() });
      const size = number % 2 && number < 2 * PAIRS ? LARGE : 0;
      socket.send(bindingRequest(id, username, password, size), Number(port), host);
    }
  }, INTERVAL_MS);
  return promise.finally(() => {
    clearInterval(timer);
    socket.close();
  });
}

/** Node has Promise.withResolvers since version 22. */
function withResolvers() {
  let resolve, reject;
  const promise = new Promise((...both) => ([resolve, reject] = both));
  return { promise, resolve, reject };
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
