// An attacker of the WebRTC port, in a process of its own: tests/support/rtc_attack.c has its attacks.
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import { request } from './packets.mjs';
import { patiently } from '../support/patience.mjs';
import { startProgram } from '../support/programs.mjs';

let attacks = 0;

/**
 * Starts an attack of so many peers, all from one new address (127.4.0.x), and resolves when it has begun. `ended()`
 * resolves with the numbers of datagrams and bytes that were sent and received.
 */
export async function startAttack(t, relay, name, { peers = 5, rate = 3000, seconds = 1.5 } = {}) {
  const [, udpPort] = /webrtc on udp \S+:(\d+)/.exec(relay.log());
  // prettier-ignore
  const args = [name, relay.port, udpPort, `127.4.0.${++attacks}`, peers, rate, seconds,
    request().toString('hex')];
  const child = startProgram(t, process.env.CAUSEWAY_RTC_ATTACK, args.map(String), {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const lines = createInterface(child.stdout);
  const said = [];
  lines.on('line', (line) => said.push(line));
  const closed = once(child, 'close').then(([code]) => code);
  await patiently(
    Promise.race([
      once(lines, 'line'),
      closed.then((code) => Promise.reject(new Error(`the attack ended with ${code}`))),
    ]),
    `the begin of ${name}`,
  );
  return {
    async ended() {
      const code = await patiently(closed, `the end of ${name}`);
      if (code !== 0) throw new Error(`the attack ended with ${code}`);
      return JSON.parse(said[1]);
    },
  };
}
