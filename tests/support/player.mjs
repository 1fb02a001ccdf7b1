// A player who says a number again and again, for as long as a connection lasts, and measures what comes back.
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { patiently, until as eventually } from './patience.mjs';

/** Returns a check for messages that the tests' own server sends everybody because this client has spoken. */
const echoed = (client) => {
  const { index } = client.slot;
  return ({ type, value }) => type === 'said' && value.player === index;
};

/**
 * `isEcho(message)` tells the echoes of this client's words from all other messages. When `everyMs` is 0, the player says
 * only what the test has it say.
 */
export function startPlayer(client, { isEcho = echoed(client), everyMs = 50 } = {}) {
  const { slot } = client;
  const player = { client, said: [], sent: 0, states: [], transports: [], gap: 0 };
  let last = performance.now();
  client.addEventListener('message', ({ message }) => {
    player.gap = Math.max(player.gap, performance.now() - last);
    last = performance.now();
    if (isEcho(message)) player.said.push(message.value.text);
  });
  client.addEventListener('state', ({ state }) => player.states.push(state));
  client.addEventListener('transport', ({ transport }) => player.transports.push(transport));
  player.say = () => client.send(0, 'say', { text: String(player.sent++) });
  const speak = () => {
    if (client.state === 'disconnected') return clearInterval(timer);
    player.say();
  };
  const timer = everyMs > 0 && setInterval(speak, everyMs);
  /** Says one last thing, and waits until all that was said has come back, each once and in order. */
  player.rest = async () => {
    clearInterval(timer);
    player.say();
    const all = () => player.said.length >= player.sent;
    await eventually(() => `the echoes: ${player.said.length} of ${player.sent}`, all);
    assert.deepEqual(
      player.said,
      Array.from({ length: player.sent }, (_, i) => String(i)),
    );
    await until(client, 'state', 'connected'); // a machine that stalls may just have lost a link
    assert.deepEqual(client.slot, slot);
  };
  return player;
}

/** Resolves when the client is in this state, or over this transport. */
export async function until(client, type, value) {
  while (client[type] !== value) {
    assert.notEqual(client.state, 'disconnected');
    await patiently(once(client, type), () => `${type} ${value}; it is ${client[type]}`);
  }
}

/** Reports a gap beside the goal for it. No test fails because of it: it depends on what else runs. */
export const reportGap = (t, { gap }, goalMs) =>
  t.diagnostic(`a gap of ${gap.toFixed(0)} ms; the goal is ${goalMs}`);
