// Players that come and go at a relay which is upgraded, reloaded and attacked meanwhile, and counts of what the
// relay's processes hold when nobody is there.
import assert from 'node:assert/strict';
import { readFileSync, readdirSync } from 'node:fs';
import { connectAs, newKey, openRtcAs } from './links.mjs';
import { isAlive, patiently, sleep, startServer } from './support.mjs';

/** Nothing of the players is kept for the end of the test, which may be hours away. */
const passing = { after() {} };

/** A game server that sends everything back, and knows from which port each name speaks. */
export async function startGame(t) {
  const ports = new Map();
  const moved = [];
  const answer = (data, { port }) => {
    const [name] = data.toString().split(' ');
    if (ports.has(name) && ports.get(name) !== port) moved.push(name);
    if (/^player\d+$/.test(name)) ports.set(name, port);
    server.received.length = 0;
    return data;
  };
  let server = await startServer(t, { answer });
  const { port, upstream } = server;
  return {
    upstream,
    /** The names that suddenly came from another port: their session did not go on. */
    moved,
    forget: (name) => ports.delete(name),
    die: () => server.close(),
    comeBack: async () => (server = await startServer(passing, { port, answer })),
  };
}

/** A player with a session of its own, over either link; `localAddress` is the address of its WebSockets. */
export class Player {
  static #count = 0;

  constructor(relay, localAddress) {
    Object.assign(this, { relay, localAddress, key: newKey(), name: `player${Player.#count++}` });
  }

  /** Opens a link, again and again until it holds. The new link takes the place of the one before. */
  async open({ rtc = false } = {}) {
    const { relay, key, localAddress, link: before } = this;
    for (delete this.link; !this.link;) {
      try {
        this.link = rtc
          ? await openRtcAs(passing, relay, key)
          : await connectAs(passing, relay, key, { localAddress });
      } catch {
        await sleep(100); // the process that had the session was leaving
      }
    }
    before?.close();
  }

  get #isOpen() {
    const { socket, channel } = this.link ?? {};
    return socket ? socket.readyState === 1 : channel?.readyState === 'open';
  }

  /** Says something many times, and does not wait for an answer. */
  shout() {
    for (let i = 0; i < 20 && this.#isOpen; i++)
      (this.link.channel ?? this.link).send(Buffer.from(`${this.name} aloud`));
  }

  /** Speaks until an answer comes, over another link if this one ends. */
  async speak() {
    const hears = (data) => data.toString() === `${this.name} speaks`;
    const heard = () =>
      this.link.messages
        ? this.link.messages.some(({ data }) => hears(data))
        : this.link.arrived.some(hears);
    const converse = async () => {
      if (this.link) (this.link.messages ?? this.link.arrived).length = 0;
      for (let i = 0; ; i++) {
        if (!this.#isOpen) await this.open();
        if (i % 20 === 0) (this.link.channel ?? this.link).send(Buffer.from(`${this.name} speaks`));
        await sleep(5);
        if (heard()) return;
      }
    };
    await patiently(converse(), `an answer to ${this.name}`);
  }

  /** Loses the link. A WebSocket goes without a word; closing WebRTC sends one, so another link takes its place. */
  async lose() {
    if (this.link.channel) await this.open();
    else this.link.socket.terminate();
  }

  /** Ends the session. */
  async leave() {
    if (this.link?.channel || !this.#isOpen) await this.open();
    this.link.close(1000);
    await this.link.closed();
  }
}

const childrenOf = (pid) =>
  readFileSync(`/proc/${pid}/task/${pid}/children`, 'ascii').trim().split(' ').filter(Boolean);

const withChildren = (pid) => [pid, ...childrenOf(pid)];

/** Returns what a relay and its workers hold: { descriptors, kilobytes }. */
export function holdings(pid) {
  const sum = (count) => withChildren(pid).reduce((total, each) => total + count(each), 0);
  return {
    descriptors: sum((each) => readdirSync(`/proc/${each}/fd`).length),
    kilobytes: sum((each) =>
      Number(/^VmRSS:\s+(\d+) kB$/m.exec(readFileSync(`/proc/${each}/status`, 'ascii'))[1]),
    ),
  };
}

/** Waits for the end of a process, and returns the counters that it logged from an offset on. */
export async function lastWords(relay, pid, from) {
  const lines = () => [
    ...relay
      .log()
      .slice(from)
      .matchAll(/ stats (.*)\n/g),
  ];
  const gone = async () => {
    while (isAlive(pid) || lines().length === 0) await sleep(10); // the log may come after the end
  };
  await patiently(gone(), `the end of process ${pid}`);
  assert.equal(lines().length, 1, 'one line of counters');
  const pairs = lines()[0][1]
    .split(' ')
    .map((pair) => pair.split('='));
  return Object.fromEntries(pairs.map(([name, value]) => [name, Number(value)]));
}
