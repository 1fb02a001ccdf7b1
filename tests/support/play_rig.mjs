// A game of playGame and serveGame in virtual time: hosts that this file drives, and a path between them that delays,
// loses and overtakes.
import { own } from './fixture.mjs';
import { randomFrom } from './random.mjs';

const MILLISECOND = 0.001;

/** One end of a connection, as the hosts of the package are. */
class End extends EventTarget {
  state = 'connected';
  /** The sizes of the bodies that this end has sent. */
  sizes = [];

  constructor(slot) {
    super();
    this.slot = slot;
  }

  get writable() {
    return this.state === 'connected';
  }

  send(type, { body }) {
    this.sizes.push(body.length);
    this.way(() => this.other.bring(type, { body }));
  }

  /** Brings a message of the other end. */
  bring(type, value) {
    if (this.state === 'connected') this.tell('message', { message: { type, value } });
  }

  enter(state) {
    this.state = state;
    this.tell('state', { state });
  }

  tell(type, members) {
    this.dispatchEvent(Object.assign(new Event(type), members));
  }
}

/** A server, and its players. `path` may change at any time; all of its members are in seconds, but for the loss. */
export class PlayWorld {
  now = 100;
  path = { delay: 0.04, jitter: 0.02, loss: 0 };
  server = Object.assign(new EventTarget(), { clients: new Set(), maxClients: 8 });
  #way = [];
  #loops = [];

  constructor(t, seed = 1) {
    this.random = randomFrom(seed);
    const { performance } = globalThis;
    const { now } = performance;
    performance.now = () => this.now * 1000;
    own(t, () => (performance.now = now));
  }

  /** Connects a player; returns its page's end and the server's. */
  connect(slot) {
    const [page, client] = [new End(slot), new End(slot)];
    for (const end of [page, client]) {
      end.other = end === page ? client : page;
      end.way = (bring) => this.#send(bring);
    }
    this.server.clients.add(client);
    this.server.dispatchEvent(Object.assign(new Event('connect'), { client }));
    return { page, client };
  }

  disconnect({ page, client }) {
    this.server.clients.delete(client);
    client.state = 'disconnected';
    client.tell('disconnect');
    page.enter('disconnected');
  }

  #send(bring) {
    const { delay, jitter, loss } = this.path;
    if (this.random() >= loss)
      this.#way.push({ due: this.now + delay + jitter * this.random(), bring });
  }

  #arrive() {
    const here = this.#way.filter(({ due }) => due <= this.now);
    this.#way = this.#way.filter(({ due }) => due > this.now);
    here.sort((a, b) => a.due - b.due).forEach(({ bring }) => bring());
  }

  /** Has the loop of the server run so often in a second; returns the loop. */
  serve(perSecond = 60) {
    return this.every(1 / perSecond, () => this.server.dispatchEvent(new Event('tick')));
  }

  /** Returns a loop; it stands still while its `paused` is true. */
  every(seconds, run) {
    const loop = { seconds, run, due: this.now, paused: false };
    this.#loops.push(loop);
    return loop;
  }

  /** Returns a `schedule` for a page with so many frames in a second; `waits` tells whether a frame is to come. */
  frames(perSecond = 60) {
    let next;
    const loop = this.every(1 / perSecond, () => {
      const frame = next;
      next = undefined;
      frame?.();
    });
    return Object.assign((frame) => (next = frame), { loop, waits: () => next !== undefined });
  }

  /** Lets time pass, a millisecond at a time. */
  pass(seconds) {
    for (const end = this.now + seconds; this.now < end; this.now += MILLISECOND) {
      this.#arrive();
      for (const loop of this.#loops) {
        if (loop.due > this.now || loop.paused) continue;
        loop.due = Math.max(loop.due + loop.seconds, this.now);
        loop.run();
      }
    }
  }
}
