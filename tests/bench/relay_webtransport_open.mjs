// Measures how long a page of another origin takes to open a WebTransport session to a relay that is 100 ms away and
// back, over TCP without TLS, in Chromium: the median of several runs.
import { existsSync } from 'node:fs';
import { startChromium } from '../support/browsers.mjs';
import { startDelayPath } from '../support/delay_path.mjs';
import { openPackagePage, startPackagePage } from '../support/package_page.mjs';
import { startRelay } from '../support/relay.mjs';
import { startUdpServer } from '../support/udp_server.mjs';

const RUNS = 11;

const build = process.env.CAUSEWAY_BUILD ?? 'build/release';
if (!existsSync(`${build}/tests/relay/test_webtransport_client`)) {
  console.error('relay_webtransport_open: this build is without WebTransport');
  process.exit(0);
}
const udp = await startUdpServer(null);
const origin = await startPackagePage(null);
const path = await startDelayPath(null, { rtt: 100 });
const relay = await startRelay(null, {
  upstream: udp.upstream,
  path: process.env.CAUSEWAY_RELAY ?? `${build}/relay/causeway-relay`,
  args: [...path.relayOptions, '--webtransport', '--origin', origin],
});
path.to(relay);

const browser = await startChromium(null);
const page = await openPackagePage(null, browser, origin);
const openingTime = () =>
  page.evaluate(async (url) => {
    const begun = performance.now();
    const transport = await globalThis.causeway.openTransport(url, {
      transports: ['webtransport'],
    });
    const took = performance.now() - begun;
    transport.close();
    return took;
  }, path.url);

await openingTime(); // not counted, as the browser first starts processes that it needs
const times = [];
for (let i = 0; i < RUNS; i++) times.push(await openingTime());
times.sort((a, b) => a - b);
console.log(`webtransport_open_rtt_100_ms ${times[RUNS >> 1].toFixed(0)} ms`);
await browser.close();
process.exit(0);
