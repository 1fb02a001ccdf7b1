// Helpers of the netcode interop tests: the native ends as child processes, and the ends of the second implementation,
// all of which end with the test.
import { randomBytes } from 'node:crypto';
import { EventEmitter } from 'node:events';
import { createInterface } from 'node:readline';
import { makeToken } from './netcode_standard.mjs';
import { NetcodeClient } from './netcode_standard_client.mjs';
import { NetcodeServer } from './netcode_standard_server.mjs';
import { own } from './fixture.mjs';
import { next } from './patience.mjs';
import { startProgram } from './programs.mjs';
import { startRelay } from './relay.mjs';

export const PROTOCOL = 0x8877665544332211n;
export const privateKey = randomBytes(32);

/** Makes a token by the second implementation. */
export const foreignToken = (options) =>
  makeToken({ protocolId: PROTOCOL, privateKey, clientId: 1n, ...options });

async function startNative(t, program, args) {
  const env = { ...process.env, CAUSEWAY_KEY: privateKey.toString('hex') };
  const child = startProgram(t, program, args, { stdio: ['pipe', 'pipe', 'inherit'], env });
  const lines = [];
  const output = new EventEmitter();
  createInterface(child.stdout).on('line', (line) => {
    lines.push(line);
    output.emit('line');
  });
  return {
    /** The lines that it has said and nobody has asked for. */
    lines,
    tell: (line) => child.stdin.write(`${line}\n`),
    /** Takes the first line of this form, of those that it has said or will say. */
    async said(form) {
      for (;;) {
        const index = lines.findIndex((line) => form.test(line));
        if (index >= 0) return form.exec(lines.splice(index, 1)[0]);
        await next(output, 'line').catch((error) => {
          throw new Error(`${form} in vain; it said ${lines.join('\n')}`, { cause: error });
        });
      }
    },
    /** Ends its input, and returns its exit code. */
    async end() {
      child.stdin.end();
      const [code] = await next(child, 'close');
      return code;
    },
  };
}

export async function startNativeServer(t, { address = '127.0.0.1:0', slots = 4 } = {}) {
  const program = process.env.CAUSEWAY_NETCODE_SERVER;
  const server = await startNative(t, program, [address, String(PROTOCOL), String(slots)]);
  const [, listening] = await server.said(/^listening (.+)$/);
  return Object.assign(server, { address: listening });
}

export const startNativeClient = (t, address = '127.0.0.1:0') =>
  startNative(t, process.env.CAUSEWAY_NETCODE_CLIENT, [address]);

export async function startForeignServer(t, { host, slots, tickMs } = {}) {
  const server = new NetcodeServer({ protocolId: PROTOCOL, privateKey, slots, tickMs });
  server.ignored = [];
  server.on('ignored', (reason) => server.ignored.push(reason));
  await server.listen(host);
  own(t, () => server.close());
  return server;
}

/** Starts a server of the second implementation behind a relay with WebRTC. */
export async function startForeignPlace(t, options) {
  const server = await startForeignServer(t, options);
  const args = ['--protocol-id', String(PROTOCOL), '--rtc', '127.0.0.1:0'];
  const relay = await startRelay(t, { upstream: server.address, gated: true, args });
  return { server, relay, url: relay.url };
}

/** Starts a client of the second implementation, which begins to connect. */
export function startForeignClient(t, token, open) {
  const client = new NetcodeClient(token, open);
  client.ignored = [];
  client.on('ignored', (reason) => client.ignored.push(reason));
  own(t, () => client.close());
  client.connect();
  return client;
}

/** Waits until a client of the second implementation is in this state. */
export async function becomes(client, state) {
  while (client.state !== state) await next(client, 'state');
}
