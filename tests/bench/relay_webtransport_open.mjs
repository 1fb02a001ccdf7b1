// Measures how long a page of another origin takes to open a WebTransport session to a relay that is 100 ms away and
// back, and until its first datagram has come back, in Chromium: the medians of several runs. First the page asks the
// relay, over TCP without TLS; then it has the answer already, as from its backend.
import { existsSync } from 'node:fs';
import { startChromium } from '../support/browsers.mjs';
import { startDelayPath } from '../support/delay_path.mjs';
import { openPackagePage, startPackagePage } from '../support/package_page.mjs';
import { startRelay } from '../support/relay.mjs';
import { startUdpServer } from '../support/udp_server.mjs';
import { askRelay } from '../support/webtransport.mjs';

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
const times = (url) =>
  page.evaluate(async (address) => {
    const begun = performance.now();
    const passed = () => performance.now() - begun;
    const transport = await globalThis.causeway.openTransport(address, {
      transports: ['webtransport'],
    });
    const open = passed();
    const back = new Promise((resolve) => (transport.ondatagram = resolve));
    transport.send(new Uint8Array(100));
    await back;
    transport.close();
    return { open, echo: passed() };
  }, url);

/** Prints the medians of the times with the addresses that a function gives for each run. */
async function measure(prefix, addressOf) {
  await times(addressOf(RUNS)); // not counted, as the browser first starts processes that it needs
  const all = [];
  for (let i = 0; i < RUNS; i++) all.push(await times(addressOf(i)));
  for (const what of ['open', 'echo']) {
    const sorted = all.map((each) => each[what]).sort((a, b) => a - b);
    console.log(`${prefix}_${what}_rtt_100_ms ${sorted[RUNS >> 1].toFixed(0)} ms`);
  }
}
await measure('webtransport_asked', (i) => `${path.url}?${i}`); // The page has not asked at this address.
const answer = encodeURIComponent(JSON.stringify(await askRelay(relay, { origin })));
await measure('webtransport', () => `${path.url}#${answer}`);
await browser.close();
process.exit(0);
