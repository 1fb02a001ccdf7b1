// A page at a distance from a relay and a server, all in virtual time: nothing takes time but the way, so that the
// figures are the same on every machine. The relay is this file, the server that of the package.
import { mock } from 'node:test';
import { FakePlatform } from './fake_links.mjs';
import { Rig } from './node_server_rig.mjs';
import { randomFrom } from './random.mjs';

/** Round trips until a link is open: those of TCP and HTTP; those of HTTP for the offer, ICE, DTLS and SCTP. */
export const OPEN_TRIPS = { websocket: 2, webrtc: 7 };
/** Milliseconds between the rounds of the server. */
export const TICK_MS = 1000 / 60;

/** The address of the page, as the server sees it. Other clients of the rig have others. */
const PAGE = { host: '10.0.0.1', port: 49999 };

const turn = () => new Promise((resolve) => setImmediate(resolve));

/** Lets everything happen that is due now. */
const settle = async () => {
  for (let i = 0; i < 4; i++) await turn();
};

export class VirtualDistance {
  now = 0;
  #rtt;
  rig = new Rig();
  platform = new FakePlatform();
  /** Returns whether a datagram of the server or to it is lost. */
  loses = () => false;
  /** True when the relay cannot be reached: links do not open. */
  unreachable = false;
  #due = [];
  /** The links that have opened, the newest last. */
  #opened = [];
  /** The link over which the relay sends: the newest that has brought something. */
  #link;
  #fetch = globalThis.fetch;

  constructor(rtt) {
    this.#rtt = rtt;
    const began = Date.now();
    mock.timers.enable({ apis: ['setTimeout', 'setInterval', 'Date'], now: began });
    mock.method(performance, 'now', () => this.now);
    mock.method(Math, 'random', randomFrom(1));
    globalThis.fetch = this.platform.fetch;
    this.rig.transmit = () => this.#serverSends();
    this.options = { ...this.#links(), schema: this.rig.schema };
  }

  token(options) {
    return this.rig.token(options);
  }

  stop() {
    mock.timers.reset();
    mock.restoreAll();
    globalThis.fetch = this.#fetch;
  }

  /** Lets time pass a millisecond at a time until `isSo` is true; throws after `most` of them. */
  async passUntil(what, isSo, most) {
    for (const end = this.now + most; !isSo();) {
      if (this.now > end) throw new Error(`${what}: not within ${most} ms`);
      this.now++;
      this.rig.now += 0.001;
      mock.timers.tick(1);
      this.#arrive();
      if (Math.floor(this.now / TICK_MS) > Math.floor((this.now - 1) / TICK_MS))
        this.#serverTicks();
      await settle();
    }
  }

  /** Calls `happen` after so many round trips. */
  #after(trips, happen) {
    this.#due.push({ at: this.now + trips * this.#rtt, happen });
  }

  #arrive() {
    const due = this.#due.filter(({ at }) => at <= this.now);
    this.#due = this.#due.filter(({ at }) => at > this.now);
    due.forEach(({ happen }) => happen());
  }

  /** Makes both kinds of links, which open by themselves and send to the server over the distance. */
  #links() {
    const { WebSocket, RTCPeerConnection } = this.platform;
    const begin = (kind, opens, link, trips = OPEN_TRIPS[kind]) => {
      this.#after(trips, () => {
        if (this.unreachable) return opens.end();
        this.#opened.push(link);
        opens.open();
      });
      link.send = (datagram) => {
        const copy = datagram.slice();
        this.#after(0.5, () => this.#relayTakes(link, copy));
      };
    };
    return {
      WebSocket: class extends WebSocket {
        constructor(...all) {
          super(...all);
          begin('websocket', this, this);
        }
      },
      RTCPeerConnection: class extends RTCPeerConnection {
        constructor() {
          super();
          begin('webrtc', this, this.channel);
        }
      },
    };
  }

  #relayTakes(link, datagram) {
    const age = (each) => this.#opened.indexOf(each);
    if (!this.#link || age(link) > age(this.#link)) this.#link = link;
    if (!this.loses(datagram)) this.rig.deliver(datagram, PAGE.host, PAGE.port);
  }

  #serverSends() {
    const { server, now } = this.rig;
    for (let out = server.transmit(now); out; out = server.transmit(now)) {
      const datagram = [...out.datagram];
      const link = this.#link;
      if (out.port !== PAGE.port) this.#deliverTo(out);
      else if (!this.loses(datagram)) this.#after(0.5, () => link.deliver(...datagram));
    }
  }

  /** Delivers a datagram to a client of the rig, which is near. */
  #deliverTo({ datagram, host, port }) {
    const { clients, now } = this.rig;
    const to = clients.find((client) => client.host === host && client.port === port);
    to?.client.receive(datagram, now);
  }

  /** Sends back what the client has said, and what is due. */
  #serverTicks() {
    const rig = this.rig;
    rig.follow();
    for (const [slot, connection] of rig.connections) {
      rig.take(slot);
      for (const { type, value } of rig.taken.get(slot)?.splice(0) ?? [])
        if (type === 'say') connection.send(0, 'said', { player: slot, ...value }, rig.now);
    }
    for (const other of rig.clients) {
      other.client.update(rig.now);
      other.transmit();
    }
    rig.server.update(rig.now, rig.offset);
    rig.transmit();
  }

  /** Lets time pass in which the page's machine sleeps, so that nothing reaches it. */
  sleep(milliseconds) {
    const { loses } = this;
    this.loses = () => true;
    for (let passed = 0; passed < milliseconds; passed += TICK_MS) {
      this.now += TICK_MS;
      this.rig.now += TICK_MS / 1000;
      this.#serverTicks();
    }
    mock.timers.setTime(Date.now() + milliseconds);
    this.loses = loses;
  }
}
