// Measures what several WebSockets for one session bring, beside one: with 3 % of the packets lost in either direction at
// 100 ms RTT, the delays of datagrams that arrive, at the 90th and the 99th percentile, and the bytes on the link, also when
// no packet is lost any more.
import { execFileSync } from 'node:child_process';
import { resolve } from 'node:path';
import { fileURLToPath } from 'node:url';

/** Half of the datagrams are this many milliseconds late on a machine that is busy with something else. */
const SLACK = 3;
const ATTEMPTS = 3;

const build = resolve(process.env.CAUSEWAY_BUILD ?? 'build/release');
const script = fileURLToPath(new URL('../support/tcp_stalls.mjs', import.meta.url));
const what = { loss: 3, seconds: 20, ways: ['one', 'several'] };
const env = {
  ...process.env,
  CAUSEWAY_RELAY: `${build}/relay/causeway-relay`,
  CAUSEWAY_LOSSY_LINK: `${build}/tests/relay/test_lossy_link`,
};
const measure = (later) =>
  JSON.parse(
    execFileSync(
      'unshare',
      ['-Urn', process.execPath, script, JSON.stringify({ ...what, later })],
      { env },
    ),
  );
const isBusy = ({ rtt, one, several }) => Math.max(one.median, several.median) > rtt / 2 + SLACK;

function figures(name, later, which) {
  let result = measure(later);
  for (let attempt = 1; attempt < ATTEMPTS && isBusy(result); attempt++) result = measure(later);
  const { one, several } = result;
  for (const figure of which)
    console.log(`${name}_${figure}_ratio ${(several[figure] / one[figure]).toFixed(2)} ratio`);
}

figures('tcp_4', what.loss, ['p90', 'p99', 'bytes']);
figures('tcp_4_calm', 0, ['bytes']);
