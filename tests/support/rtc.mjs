// WebRTC clients in Node, on two stacks that know nothing of each other.
import { createSocket } from 'node:dgram';
import { once } from 'node:events';
import { require } from './packages.mjs';
import { PATIENCE_MS } from './patience.mjs';
import { RTCPeerConnection } from './wrtc.mjs';

export const stacks = [
  { name: '@roamhq/wrtc', RTCPeerConnection },
  {
    name: 'node-datachannel',
    RTCPeerConnection: require('node-datachannel/polyfill').RTCPeerConnection,
  },
];

export const unreliable = { ordered: false, maxRetransmits: 0 };
export const negotiated = { ...unreliable, negotiated: true, id: 0 };

const within = (ms, what, promise) => {
  let timer;
  const late = new Promise((_, reject) => {
    timer = setTimeout(() => reject(new Error(`no ${what} within ${ms} ms`)), ms);
  });
  return Promise.race([promise, late]).finally(() => clearTimeout(timer));
};

const same = (sdp) => sdp;

export const postOffer = (url, sdp, headers = {}) =>
  fetch(new URL('/rtc', url), {
    method: 'POST',
    headers: { 'content-type': 'application/sdp', ...headers },
    body: sdp,
  });

async function negotiate(peer, url, edit, { editOffer = same, headers }) {
  await peer.setLocalDescription(await peer.createOffer());
  const reply = await postOffer(url, editOffer(peer.localDescription.sdp), headers);
  const answer = await reply.text();
  if (reply.status !== 201) throw new Error(`${reply.status}: ${answer}`);
  await peer.setRemoteDescription({ type: 'answer', sdp: edit(answer) });
  return { answer, location: reply.headers.get('location') };
}

/**
 * Makes a connection. `edit` may change its answer before it is used, as `posted.editOffer` may change the offer before
 * it is posted with `posted.headers`.
 */
export async function connect(
  RTCPeerConnection,
  url,
  options = unreliable,
  edit = same,
  posted = {},
) {
  const peer = new RTCPeerConnection();
  const channel = peer.createDataChannel('game', options);
  channel.binaryType = 'arraybuffer';
  const arrived = [];
  const waiting = [];
  channel.onmessage = ({ data }) => {
    const bytes = Buffer.from(data);
    if (waiting.length > 0) waiting.shift()(bytes);
    else arrived.push(bytes);
  };
  const opened = new Promise((resolve) => (channel.onopen = resolve));
  const closed = new Promise((resolve) => (channel.onclose = resolve));
  // A peer that is not closed keeps the process alive, and a failed test would look like a hang.
  const { answer, location } = await negotiate(peer, url, edit, posted).catch((error) => {
    peer.close();
    throw error;
  });
  return {
    peer,
    channel,
    answer,
    location,
    opened: (ms = PATIENCE_MS) => within(ms, 'open channel', opened),
    closed: (ms = PATIENCE_MS) => within(ms, 'close', closed),
    /** Resolves with the next message, or fails when none comes. */
    next: (ms = PATIENCE_MS) => {
      if (arrived.length > 0) return Promise.resolve(arrived.shift());
      let waiter;
      const message = new Promise((resolve) => waiting.push((waiter = resolve)));
      return within(ms, 'message', message).finally(() => {
        const place = waiting.indexOf(waiter);
        if (place >= 0) waiting.splice(place, 1);
      });
    },
    arrived,
    close: () => peer.close(),
  };
}

export async function open(...options) {
  const connection = await connect(...options);
  await connection.opened();
  return connection;
}

/** Returns the counters that the relay logs on SIGUSR1. */
export async function counters(relay) {
  const before = relay.log.length;
  relay.signal('SIGUSR1');
  for (let i = 0; i < PATIENCE_MS / 10; i++) {
    const line = relay.log.slice(before).find((each) => each.includes('stats sessions_open='));
    if (line)
      return Object.fromEntries(
        [...line.matchAll(/(\w+)=(\d+)/g)].map(([, name, value]) => [name, Number(value)]),
      );
    await new Promise((resolve) => setTimeout(resolve, 10));
  }
  throw new Error('the relay logged no counters');
}

/** Waits until `check` returns a true value; calls it again and again. */
export async function until(what, check, ms = PATIENCE_MS) {
  for (let waited = 0; waited < ms; waited += 20) {
    const value = await check();
    if (value) return value;
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
  throw new Error(`${what}: not within ${ms} ms`);
}

/**
 * Carries datagrams of one client to the relay and back, but those for which `drop` returns true when it is called with
 * the direction, the number and the datagram. The proxy changes its own address when told to roam.
 */
export async function startProxy(port, drop = () => false) {
  const front = createSocket('udp4');
  const count = { up: 0, down: 0 };
  let client;
  let back;
  const openBack = async () => {
    back = createSocket('udp4');
    back.on('message', (data) => {
      if (client && !drop('down', ++count.down, data))
        front.send(data, client.port, client.address);
    });
    back.bind(0, '127.0.0.1');
    await once(back, 'listening');
  };
  await openBack();
  front.on('message', (data, from) => {
    client = from;
    if (!drop('up', ++count.up, data)) back.send(data, port, '127.0.0.1');
  });
  front.bind(0, '127.0.0.1');
  await once(front, 'listening');
  return {
    port: front.address().port,
    /** Puts the proxy between, by the address in the answer. */
    edit: (sdp) => sdp.replace(`127.0.0.1 ${port} typ`, `127.0.0.1 ${front.address().port} typ`),
    roam: async () => {
      const old = back;
      await openBack();
      old.close();
    },
    close: () => {
      front.close();
      back.close();
    },
  };
}
