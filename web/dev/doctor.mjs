// npx causeway-net doctor: what stands between this machine and a game. Node sees what no page is told: the name, the
// port, the certificate and single UDP packets.
import { lookup } from 'node:dns/promises';
import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { connect as connectTcp, isIP } from 'node:net';
import { join } from 'node:path';
import { checkServerIdentity, connect as connectTls } from 'node:tls';
import { Fault, Skipped } from '../dist/doctor/faults.js';
import { doctor } from '../dist/doctor/index.js';
import { bool, message, schema } from '../dist/index.js';
import { loadCore } from '../dist/loader.js';
import { PayloadClient } from '../dist/secure/payload_client.js';
import { Server, loadServer } from '../dist/server/index.js';
import { within } from '../dist/transports/within.js';
import { probeUdp } from './stun.mjs';

/** Resolves when the socket is ready, or rejects with the fault. */
function ready(socket, { event, code, timeoutSeconds, check = () => {} }) {
  socket.setTimeout(timeoutSeconds * 1000);
  const done = new Promise((resolve, reject) => {
    const fail = (why) => reject(new Fault(code, why));
    socket.once('timeout', () => fail(`nobody answers in ${timeoutSeconds} s`));
    socket.once('error', (error) =>
      fail(error.reason ?? error.errors?.[0].message ?? error.message),
    );
    socket.once(event, () => {
      try {
        resolve(check());
      } catch (error) {
        reject(error);
      }
    });
  });
  return done.finally(() => socket.destroy());
}

/** Checks the certificate that a server has shown. A missing trust is told last, because it is often due to the other faults. */
function checkCertificate(socket, name) {
  const certificate = socket.getPeerCertificate();
  const { valid_from: from, valid_to: to } = certificate;
  const now = Date.now();
  if (now > Date.parse(to) || now < Date.parse(from))
    throw new Fault('CERTIFICATE_EXPIRED', `the certificate is valid from ${from} to ${to}`);
  const wrong = checkServerIdentity(name, certificate);
  if (wrong) throw new Fault('CERTIFICATE_NAME', wrong.message);
  if (socket.authorizationError)
    throw new Fault('CERTIFICATE_UNTRUSTED', `no trust: ${socket.authorizationError}`);
  return `${socket.getProtocol()}, the certificate is valid until ${to}`;
}

/** Returns the checks of the way to a relay, in their order. */
function probesOf({ protocol, hostname, port }, timeoutSeconds) {
  const isSecure = protocol === 'https:';
  const host = hostname.replace(/^\[|\]$/g, '');
  const at = { host, port: Number(port) || (isSecure ? 443 : 80) };
  const dns = async () => {
    try {
      const look = () => lookup(host, { all: true });
      const late = () => new Error('the name servers do not answer');
      const found = await within({ timeoutSeconds }, late, look);
      return found.map(({ address }) => address).join(', ');
    } catch (error) {
      throw new Fault('DNS', error.message);
    }
  };
  const tcp = async () => {
    await ready(connectTcp(at), { event: 'connect', code: 'TCP', timeoutSeconds });
    return `port ${at.port} answers`;
  };
  const tls = () => {
    const names = isIP(host) ? {} : { servername: host };
    const socket = connectTls({ ...at, ...names, rejectUnauthorized: false });
    const check = () => checkCertificate(socket, host);
    return ready(socket, { event: 'secureConnect', code: 'TLS', timeoutSeconds, check });
  };
  return [...(isIP(host) ? [] : [['dns', dns]]), ['tcp', tcp], ...(isSecure ? [['tls', tls]] : [])];
}

/** Returns the WebSocket of the package ws, which Node needs before version 22. */
function wsOfProject() {
  try {
    return createRequire(join(process.cwd(), 'package.json'))('ws');
  } catch {
    throw new Error('this Node has no WebSocket: use Node 22, or run npm install ws here');
  }
}

/** Returns a class of WebSockets that name an origin, as those of a page do. */
function socketsOf(origin) {
  const { WebSocket } = globalThis;
  if (WebSocket)
    return class extends WebSocket {
      constructor(url, protocols) {
        super(url, { protocols, headers: origin ? { origin } : {} });
      }
    };
  const Ws = wsOfProject();
  return class extends Ws {
    constructor(url, protocols) {
      super(url, protocols, { origin });
    }
  };
}

/** Returns the function that gets a token: from a backend by a POST, or from a file. */
const tokenFrom = (place) =>
  /^https?:/.test(place)
    ? async () => {
        const response = await fetch(place, { method: 'POST' });
        if (!response.ok) throw new Error(`${place} answers ${response.status}`);
        return response.arrayBuffer();
      }
    : readFileSync(place);

/** The place of the game's number in a token (netcode 1.02). */
const PROTOCOL_ID = 13;

/** Has a server in this process judge a token with the private key of the game servers. */
async function checkKey(token, privateKey) {
  if (!token) throw new Skipped('there is no token to judge by CAUSEWAY_KEY (--token)');
  const { bytes } = token;
  const [core, serverCore] = [await loadCore(), await loadServer()];
  const config = {
    protocolId: new DataView(bytes.buffer, bytes.byteOffset).getBigUint64(PROTOCOL_ID, true),
    privateKey,
    addresses: ['127.0.0.1:1'],
    maxTokenLifeSeconds: 0, // because this server is newer than the token
  };
  const server = new Server(
    serverCore,
    schema(message('any', { any: bool() })),
    config,
    Date.now() / 1000,
  );
  const client = new PayloadClient(core);
  client.connect(bytes, 0);
  client.update(0);
  server.receive(client.transmit(0), '127.0.0.1', 2, 0);
  if (server.stats().dropped.NOT_AUTHENTIC)
    throw new Fault('KEY', 'the token was not made with the key in CAUSEWAY_KEY');
  return 'the token was made with the key in CAUSEWAY_KEY';
}

const SIGNS = { ok: 'ok', failed: 'FAILED', skipped: '-' };

/**
 * Looks for what stands in the way, and prints a line for each check, or one JSON object.
 * @param options as `readArguments` gives them; a check may take `timeoutSeconds`
 * @param print is called with each line
 * @returns whether all is well
 */
export async function examine({ url, token, origin, json, key, timeoutSeconds = 4 }, print) {
  const relay = new URL(url.replace(/^ws/, 'http'));
  const udp = ({ servers: [server] = [] } = {}) =>
    probeUdp(relay, { origin, server, timeoutSeconds });
  // A stranger may say anything, but no control characters reach the terminal.
  const show = (text) => print(text.replace(/\p{Cc}/gu, '?'));
  const line = ({ name, state, text }) =>
    show(`${name.padEnd(20)} ${SIGNS[state].padEnd(7)} ${text}`);
  const diagnosis = await doctor(relay, {
    transports: ['websocket'],
    WebSocket: socketsOf(origin),
    timeoutSeconds,
    first: probesOf(relay, timeoutSeconds),
    beside: [['udp', udp], ...(key ? [['key', (read) => checkKey(read, key)]] : [])],
    ...(token && { token: tokenFrom(token) }),
    ...(!json && { oncheck: line }),
  });
  const { ok, code, text } = diagnosis;
  if (json) print(JSON.stringify(diagnosis));
  else show(`${ok ? 'OK' : (code ?? 'FAILED')}: ${text}`);
  return ok;
}
