// Native clients of WebTransport: tests/support/webtransport_client.c says what they do.
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import { patiently } from './patience.mjs';
import { startProgram } from './programs.mjs';

/** The answers over HTTP/3, as the bytes of a frame. */
export const ACCEPTED = '01030000d9';
export const REFUSED = { 400: '01040000ff04', 403: '01040000ff05', 404: '01030000db' };

/** Asks the relay, as a page does at first, for its address and the path with the page's pass. */
export async function askRelay(relay, { origin } = {}) {
  const reply = await fetch(new URL('webtransport', relay.url), {
    method: 'POST',
    headers: origin && { origin },
  });
  assert.equal(reply.status, 200);
  return reply.json();
}

/** Starts a client. `next()` resolves with the next line that it prints, as a name and a value. */
export function startClient(t, port, path, origin = '') {
  const program = process.env.CAUSEWAY_WEBTRANSPORT_CLIENT;
  const child = startProgram(t, program, ['127.0.0.1', String(port), path, origin], {
    stdio: ['pipe', 'pipe', 'inherit'],
  });
  const lines = createInterface(child.stdout)[Symbol.asyncIterator]();
  child.stdin.on('error', () => {}); // It has gone.
  const next = async () => {
    const { value = 'gone', done } = await patiently(lines.next(), 'a line of the client');
    const [name, ...rest] = done ? ['gone'] : value.split(' ');
    return { name, value: rest.join(' ') };
  };
  return {
    next,
    /** Resolves with the value of the next line, which must have this name. */
    async expect(name) {
      const line = await next();
      assert.equal(line.name, name, line.value);
      return line.value;
    },
    say: (line) => child.stdin.write(`${line}\n`),
    datagram: (bytes) => child.stdin.write(`datagram ${Buffer.from(bytes).toString('hex')}\n`),
    /** Resolves with the next datagram, without the number of its session. */
    async receive() {
      return Buffer.from(await this.expect('datagram'), 'hex').subarray(1);
    },
    ended: () => patiently(once(child, 'close'), 'the end of the client'),
  };
}

/** Puts a datagram into the envelope in which it comes whole. */
export const whole = (bytes) => Buffer.concat([Buffer.of(0), Buffer.from(bytes)]);

/** Puts a datagram into two parts with this number. */
export function inParts(bytes, number) {
  const half = Math.ceil(bytes.length / 2);
  const part = (head, data) => Buffer.concat([Buffer.of(head), data]);
  return [
    part(number << 1, bytes.subarray(0, half)),
    part((number << 1) | 1, bytes.subarray(half)),
  ];
}

/** Opens a session of the relay. */
export async function open(t, relay, { origin, key, query = '' } = {}) {
  const { address, path } = await askRelay(relay, { origin });
  const session = key ? `&session=${key}` : '';
  const port = address.split(':').at(-1);
  const client = startClient(t, port, `${path}${session}${query}`, origin);
  client.settings = await client.expect('settings');
  assert.equal(await client.expect('stream'), ACCEPTED);
  return client;
}

/** Reads the capsule that closes a session, in its frame, from what came on the stream. */
export function closeOf(hex) {
  const bytes = Buffer.from(hex, 'hex');
  const at = bytes.indexOf(Buffer.of(0x68, 0x43));
  assert.ok(at > 0, hex);
  const length = bytes[at + 2] < 64 ? 1 : 2;
  const rest = bytes.subarray(at + 2 + length);
  return { code: rest.readUInt32BE(0), reason: rest.subarray(4).toString() };
}

/** A WebTransport as pages have it, with such a client behind it. */
export class WebTransport {
  #client;
  #close;
  #takes = new TransformStream();

  constructor(url) {
    const { port, pathname, search } = new URL(url);
    this.#client = startClient(null, port, pathname + search);
    this.closed = new Promise((resolve) => (this.#close = resolve));
    this.ready = this.#open();
    this.datagrams = {
      maxDatagramSize: 1024,
      readable: this.#takes.readable,
      writable: new WritableStream({ write: (bytes) => this.#client.datagram(bytes) }),
    };
  }

  async #open() {
    await this.#client.expect('settings');
    assert.equal(await this.#client.expect('stream'), ACCEPTED);
    void this.#read();
  }

  async #read() {
    const writer = this.#takes.writable.getWriter();
    for (;;) {
      const { name, value } = await this.#client.next();
      if (name === 'datagram')
        await writer.write(Uint8Array.from(Buffer.from(value.slice(2), 'hex')));
      else return this.close(name === 'stream' ? closeOf(value) : {});
    }
  }

  close({ code: closeCode, reason } = {}) {
    this.#client.say('quit');
    this.#close({ closeCode, reason });
  }
}
