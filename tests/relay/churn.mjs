// Players that come and go at a relay which is upgraded, reloaded and attacked meanwhile, and counts of what the
// relay's processes hold when nobody is there.
import assert from 'node:assert/strict';
import { connectAs, newKey, openRtcAs } from './links.mjs';
import { freePort } from '../support/free_port.mjs';
import { patiently, sleep } from '../support/patience.mjs';
import { childrenOf, descriptorsOf, isAlive, memoryOf } from '../support/programs.mjs';
import { stacks } from '../support/rtc.mjs';
import { startUdpServer } from '../support/udp_server.mjs';

/** Chromium's stack, the other one, crashes now and then in Node when connections come and go for minutes. */
const stack = stacks[1];

/** Nothing of the players is kept for the end of the test, which may be hours away. */
const passing = null;

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
  const port = await freePort('udp'); // or a session of the relay could take it while the server is away
  let server = await startUdpServer(t, { port, answer });
  const { upstream } = server;
  return {
    upstream,
    /** The names that suddenly came from another port: their session did not go on. */
    moved,
    forget: (name) => ports.delete(name),
    die: () => server.close(),
    comeBack: async () => (server = await startUdpServer(passing, { port, answer })),
  };
}

/** A player with a session of its own, over either link; `localAddress` is the address of its WebSockets. */
export class Player {
  static #count = 0;
  #answered = false;

  constructor(relay, localAddress) {
    Object.assign(this, { relay, localAddress, key: newKey(), name: `player${Player.#count++}` });
  }

  /** Opens a link, again and again until it holds. */
  async open({ rtc = false } = {}) {
    const { relay, key, localAddress } = this;
    for (delete this.link; !this.link;) {
      try {
        this.link = rtc
          ? await openRtcAs(passing, relay, key, { stack })
          : await connectAs(passing, relay, key, { localAddress });
      } catch {
        await sleep(100); // the process that had the session was leaving
      }
    }
  }

  get #isOpen() {
    const { socket, channel } = this.link ?? {};
    return socket ? socket.readyState === 1 : channel?.readyState === 'open';
  }

  /** Opens a link, and waits until it carries the session, if the game server has answered that before. */
  async #comeBack() {
    await this.open();
    if (this.#answered) await this.speak();
  }

  /** Says something many times, and does not wait for an answer. */
  shout() {
    for (let i = 0; i < 20 && this.#isOpen; i++)
      (this.link.channel ?? this.link).send(Buffer.from(`${this.name} aloud`));
  }

  /** Speaks until an answer comes, over another link if this one ends. */
  async speak() {
    const hears = (data) => data.toString() === `${this.name} speaks`;
    const counts = () =>
      this.link.messages
        ? this.link.messages.some(({ data }) => hears(data))
        : this.link.arrived.some(hears);
    const converse = async () => {
      if (this.link) (this.link.messages ?? this.link.arrived).length = 0;
      for (let i = 0; ; i++) {
        if (!this.#isOpen) await this.open();
        if (i % 20 === 0) (this.link.channel ?? this.link).send(Buffer.from(`${this.name} speaks`));
        await sleep(5);
        if (counts()) return;
      }
    };
    await patiently(converse(), `an answer to ${this.name}`);
    this.#answered = true;
  }

  /**
   * Loses the link. A WebSocket goes without a word. Closing WebRTC ends a session that has no other link, so another
   * one takes its place first. As a page does, the player waits for an answer over that: the link may have come to a
   * worker that does not know yet who has the session.
   */
  async lose() {
    const before = this.link;
    if (!before.channel) return void before.socket.terminate();
    await this.#comeBack();
    before.close();
  }

  /** Ends the session. */
  async leave() {
    if (this.link?.channel) await this.lose();
    // The relay may close a link at the same moment, as when the session has moved: that ends no session.
    for (let code; code !== 1000; { code } = await this.link.closed()) {
      if (!this.#isOpen) await this.#comeBack();
      this.link.close(1000);
    }
  }
}

const withChildren = (pid) => [pid, ...childrenOf(pid)];

/** Returns what a relay and its workers hold: { descriptors, kilobytes }. */
export function holdings(pid) {
  const sum = (count) => withChildren(pid).reduce((total, each) => total + count(each), 0);
  return {
    descriptors: sum(descriptorsOf),
    kilobytes: sum(memoryOf),
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
