// Measures what a datagram costs the relay there and back over four WebSockets of one session, beside one: its
// instructions, which callgrind counts. The next goes when the one before has come back, so each wakes the relay.
import { resolve } from 'node:path';

const build = resolve(process.env.CAUSEWAY_BUILD ?? 'build/release');
process.env.CAUSEWAY_RELAY = `${build}/relay/causeway-relay`;
const { connectAs, newKey, protocolsOf } = await import('../relay/links.mjs');
const { startServed } = await import('../support/served.mjs');

const DATAGRAM = Buffer.alloc(100, 1);
const [FEW, MANY] = [200, 1200];
const shell = 'exec valgrind --tool=callgrind --callgrind-out-file=/dev/null "$0" "$@"';

/** Returns the instructions of a relay from its start to its end. */
async function instructions(subflows, rounds) {
  const { relay } = await startServed(null, { shell, args: ['--upstream-packets', '0'] });
  const key = newKey();
  const first = await connectAs(null, relay, key);
  first.send(DATAGRAM);
  await first.received(1);
  const links = subflows > 0 ? [] : [first];
  for (let number = 1; number <= subflows; number++)
    links.push(
      await connectAs(null, relay, key, {
        protocols: [`causeway.subflow.${number}`, protocolsOf(key)[1]],
      }),
    );
  const sent = [0, 0, 0, 0];
  const received = [0, 0, 0, 0];
  let came;
  for (const [i, { socket }] of links.entries())
    socket.on('message', ([sequence]) => {
      received[i] = sequence & 127;
      came();
    });
  for (let round = 0; round < rounds; round++) {
    const echo = new Promise((resolve) => (came = resolve));
    const i = round % links.length;
    sent[i] = (sent[i] + 1) & 127;
    const header = subflows > 0 ? [sent[i], ...received] : [];
    links[i].send(Buffer.concat([Buffer.from(header), DATAGRAM]));
    await echo;
  }
  await relay.stop();
  return Number(/Collected : (\d+)/.exec(relay.log())[1]);
}

const cost = async (subflows) =>
  ((await instructions(subflows, MANY)) - (await instructions(subflows, FEW))) / (MANY - FEW);

const ratio = (await cost(4)) / (await cost(0));
console.log(`tcp_4_cost_ratio ${ratio.toFixed(2)} ratio`);
process.exit(0);
