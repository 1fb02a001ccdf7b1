// Faults that are injected one at a time, and what npx causeway-net doctor calls them: the real relay and game server.
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { createSocket } from 'node:dgram';
import { once } from 'node:events';
import { writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import { join } from 'node:path';
import { test } from 'node:test';
import { connect, generateKey } from '../support/causeway.mjs';
import { certify } from '../support/certificate.mjs';
import { own, share, temporaryFolder } from '../support/fixture.mjs';
import { freePort } from '../support/free_port.mjs';
import { require } from '../support/packages.mjs';
import { messages, startGameServer, startGate, startSecureServer } from '../support/secure.mjs';
import { startUdpPath } from '../support/udp_path.mjs';
import { examine } from '../../web/dev/doctor.mjs';

const { WebSocketServer } = require('ws');
const server = share((t) => startGameServer(t));

/** Writes a token into a file, of which the places of these times get others: seconds from now. */
function tokenFile(t, token, times = {}) {
  const bytes = Buffer.from(token);
  for (const [place, seconds] of Object.entries(times))
    bytes.writeBigUInt64LE(BigInt(Math.floor(Date.now() / 1000) + seconds), Number(place));
  const file = join(temporaryFolder(t), 'token');
  writeFileSync(file, bytes);
  return file;
}
const CREATED = 21;
const EXPIRES = 29;

/** Starts a server of HTTP that gives everybody this status. */
async function startHttp(t, status, note = () => {}) {
  const http = createServer((request, response) => {
    note(request);
    response.writeHead(status).end('hello');
  });
  own(t, () => http.close());
  http.listen(0, '127.0.0.1');
  await once(http, 'listening');
  return `http://127.0.0.1:${http.address().port}/`;
}

/** Starts a relay with TLS, and returns the address of its port at a host. */
async function startTls(t, host, days = 2) {
  const { options, certificate, key } = certify(temporaryFolder(t));
  const dated = ['-signkey', key, '-days', String(days), '-out', certificate];
  execFileSync('openssl', ['x509', '-in', certificate, ...dated], { stdio: 'ignore' });
  const { port } = await startGate(t, server(), options);
  return { url: `https://${host}:${port}/` };
}

/** Starts a relay whose UDP goes over a path that loses some. */
async function startUdp(t, loses) {
  const port = await freePort('udp');
  const path = await startUdpPath(t, port, loses);
  const advertise = ['--rtc', `127.0.0.1:${port}`, '--rtc-advertise', path.upstream];
  const { url } = await startGate(t, server(), advertise);
  return { url };
}

/** Starts a relay for a token that is made with other options. */
async function startToken(t, options, times, relayOptions = []) {
  const { url } = await startGate(t, server(), relayOptions);
  return { url, token: tokenFile(t, await server().token(options), times) };
}

/** Each fault has a name, its code, and a function that injects it and returns the options of the doctor. */
const faults = [
  ['no such name', 'DNS', () => ({ url: 'http://nobody.invalid/' })],
  ['a closed port', 'TCP', async () => ({ url: `http://127.0.0.1:${await freePort('tcp')}/` })],
  [
    'no TLS',
    'TLS',
    async (t) => ({ url: (await startGate(t, server())).url.replace('http', 'https') }),
  ],
  ['an expired certificate', 'CERTIFICATE_EXPIRED', (t) => startTls(t, 'localhost', -1)],
  ['a certificate of another name', 'CERTIFICATE_NAME', (t) => startTls(t, '127.0.0.1')],
  ['a certificate of nobody', 'CERTIFICATE_UNTRUSTED', (t) => startTls(t, 'localhost')],
  ['no relay', 'NOT_RELAY', async (t) => ({ url: await startHttp(t, 200) })],
  [
    'an origin that is not allowed',
    'ORIGIN',
    async (t) => {
      const { url } = await startGate(t, server(), ['--origin', 'https://game.example']);
      return { url, origin: 'https://other.example' };
    },
  ],
  [
    'a full relay',
    'RELAY_FULL',
    async (t) => {
      const { url } = await startGate(t, server(), ['--max-sessions', '1']);
      const { WebSocket } = await import('../support/websocket.mjs');
      const options = { transports: ['websocket'], WebSocket, schema: messages };
      const player = await connect(url, { ...options, token: await server().token() });
      own(t, () => player.disconnect());
      return { url };
    },
  ],
  [
    'no backend',
    'TOKEN_FAILED',
    async (t) => ({ url: (await startGate(t, server())).url, token: await startHttp(t, 500) }),
  ],
  [
    'no token',
    'INVALID_TOKEN',
    async (t) => ({ ...(await startToken(t)), token: import.meta.filename }),
  ],
  ['a clock that is late', 'CLOCK', (t) => startToken(t, {}, { [CREATED]: 60, [EXPIRES]: 90 })],
  ['an old token', 'TOKEN_EXPIRED', (t) => startToken(t, {}, { [CREATED]: -60, [EXPIRES]: -30 })],
  ['another game', 'PROTOCOL', (t) => startToken(t, { protocolId: 7 })],
  [
    'another key, which is at hand',
    'KEY',
    async (t) => ({ ...(await startToken(t)), key: generateKey() }),
  ],
  [
    'another key',
    'NOT_ANSWERED',
    (t) => startToken(t, { privateKey: generateKey() }, {}, ['--answer-timeout', '1']),
  ],
  [
    'no game server',
    'SERVER_DOWN',
    async (t) => {
      const upstream = `127.0.0.1:${await freePort('udp')}`;
      const { url } = await startGate(t, { upstream });
      return { url, token: tokenFile(t, await server().token({ servers: [upstream] })) };
    },
  ],
  [
    'UDP is blocked',
    'UDP_BLOCKED',
    async (t) => ({ ...(await startUdp(t, () => true)), timeoutSeconds: 4 }),
  ],
  ['long packets are lost', 'MTU', (t) => startUdp(t, ({ length }) => length > 1000)],
  ['UDP loses packets', 'LOSS', (t) => startUdp(t, (_, way, number) => number % 5 === 0)],
  [
    'the way to the server loses packets',
    'LOSS',
    async (t) => {
      const loses = (_, way, number) => way === 'down' && number % 5 === 0;
      const place = await startSecureServer(t, { loses });
      return { url: place.url, token: tokenFile(t, await place.server.token()) };
    },
  ],
];

for (const [what, code, make] of faults)
  test(what, async (t) => {
    const options = await make(t);
    const began = performance.now();
    let said;
    const all = { json: true, timeoutSeconds: 60, ...options };
    const ok = await examine(all, (line) => (said = JSON.parse(line)));
    t.diagnostic(`${((performance.now() - began) / 1000).toFixed(1)} s: ${said.text}`);
    assert.deepEqual([said.code, said.ok, ok], [code, false, false], JSON.stringify(said, null, 1));
    assert.ok(said.text.length > 30, said.text);
  });

test('a hostile relay reaches nobody else, and no terminal', async (t) => {
  const others = [];
  const other = await startHttp(t, 200, ({ method }) => others.push(method));
  const victim = createSocket('udp4').bind(0, '127.0.0.1');
  own(t, () => victim.close());
  await once(victim, 'listening');
  const asked = new Set();
  victim.on('message', (_, { port }) => asked.add(port));
  const candidate = `a=candidate:1 1 udp 1 127.0.0.1 ${victim.address().port} typ host\n`;
  const http = createServer((_, response) =>
    response.writeHead(201, { location: `${other}rtc/1` }).end(candidate.repeat(100)),
  );
  own(t, () => http.close());
  const handleProtocols = (offered) => [...offered].find((name) => name === 'causeway.v1');
  const sockets = new WebSocketServer({ server: http, handleProtocols });
  sockets.on('connection', (socket) =>
    socket.on('message', () => socket.close(4005, '\x1b[31m\nOK: all is well')),
  );
  http.listen(0, '127.0.0.1');
  await once(http, 'listening');
  const url = `http://127.0.0.1:${http.address().port}/`;
  const token = tokenFile(t, await server().token());
  const lines = [];
  assert.equal(await examine({ url, token, timeoutSeconds: 1 }, (line) => lines.push(line)), false);
  assert.doesNotMatch(lines.join(''), /\p{Cc}/u);
  assert.ok(asked.size <= 8, `${asked.size} sockets`);
  assert.deepEqual(others, []);
});
