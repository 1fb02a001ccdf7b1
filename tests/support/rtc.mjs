// WebRTC clients in Node, on two stacks that know nothing of each other.
import { own } from './fixture.mjs';
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

async function negotiate(peer, url, { edit, editOffer, headers }) {
  await peer.setLocalDescription(await peer.createOffer());
  const reply = await postOffer(url, editOffer(peer.localDescription.sdp), headers);
  const answer = await reply.text();
  if (reply.status !== 201) throw new Error(`${reply.status}: ${answer}`);
  await peer.setRemoteDescription({ type: 'answer', sdp: edit(answer) });
  return { answer, location: reply.headers.get('location') };
}

/**
 * Makes a connection by one of the stacks. `editOffer` may change its offer before that is posted with `headers`, and
 * `edit` the answer before it is used.
 */
export async function connect(
  t,
  url,
  { stack = stacks[0], options = unreliable, edit = same, editOffer = same, headers } = {},
) {
  const peer = new stack.RTCPeerConnection();
  const close = () => peer.close();
  own(t, close);
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
  const { answer, location } = await negotiate(peer, url, { edit, editOffer, headers }).catch(
    (error) => {
      close();
      throw error;
    },
  );
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
    close,
  };
}

/** Makes a connection and waits until its channel is open. */
export async function open(t, url, options) {
  const connection = await connect(t, url, options);
  await connection.opened();
  return connection;
}
