// A player whose machine has two interfaces, of which the one in use goes down. It prints the outcome as JSON.
//   interface_change.mjs TRANSPORT...     runs under "unshare -Urn"
// With "far" before the transports, and the relay and a token behind that, it is the far side: the player.
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';

/** The relay has an address that belongs to neither link. */
const ADDRESS = '10.99.9.1';

async function near(transports) {
  const { execFileSync } = await import('node:child_process');
  const { startFarSide } = await import('./lossy_path.mjs');
  const { startRelay } = await import('./relay.mjs');
  const { PROTOCOL_ID, startGameServer } = await import('./secure.mjs');
  const side = await startFarSide();
  const devices = [];
  for (const seed of [1, 2]) {
    const { farDevice } = await side.join({ delay: 20, seed });
    // The first link is the better one.
    side.run('ip', 'route', 'add', ADDRESS, 'dev', farDevice, 'metric', String(seed));
    devices.push(farDevice);
  }
  execFileSync('ip', ['addr', 'add', `${ADDRESS}/32`, 'dev', 'lo']);
  const server = await startGameServer(null);
  const relay = await startRelay(null, {
    upstream: server.upstream,
    listen: `${ADDRESS}:0`,
    gated: true,
    args: ['--protocol-id', String(PROTOCOL_ID), '--rtc', ADDRESS],
  });
  const token = Buffer.from(await server.token({ timeoutSeconds: 10 })).toString('hex');
  const player = side.start(fileURLToPath(import.meta.url), 'far', relay.url, token, ...transports);
  player.on('exit', (code) => code && process.exit(code));
  const lines = createInterface(player.stdout);
  await once(lines, 'line');
  side.run('ip', 'link', 'set', devices[0], 'down');
  player.stdin.write('it is down\n');
  const [result] = await once(lines, 'line');
  await once(player, 'exit');
  side.stop();
  console.log(result);
  process.exit(0);
}

async function far(url, token, ...transports) {
  const { connect, require } = await import('./causeway.mjs');
  const { messages } = await import('./chat_schema.mjs');
  const { startPlayer, until } = await import('./player.mjs');
  const { RTCPeerConnection } = await import('./wrtc.mjs');
  const { WebSocket } = require('ws');
  const client = await connect(url, {
    token: Buffer.from(token, 'hex'),
    schema: messages,
    transports,
    WebSocket,
    RTCPeerConnection,
  });
  const player = startPlayer(client);
  if (transports.includes('webrtc')) await until(client, 'transport', 'webrtc');
  await sleep(500);
  console.log('playing');
  await once(createInterface(process.stdin), 'line');
  await sleep(1500);
  await until(client, 'state', 'connected');
  await player.rest();
  const { gap, states } = player;
  const result = JSON.stringify({ gap, states });
  client.disconnect();
  await client.closed;
  console.log(result);
  process.exit(0);
}

const [side, ...values] = process.argv.slice(2);
await (side === 'far' ? far(...values) : near([side, ...values]));
