// Measures how long a page of another origin takes to open a WebRTC transport to a relay that is 100 ms away and back,
// or here, over TCP without TLS: in Chromium with its defaults, and where it embeds the DTLS handshake in its checks.
// Each figure is the median of several runs.
import { startChromium } from '../support/chromium.mjs';
import { startDelayPath } from '../support/delay_path.mjs';
import { openPackagePage, openingTime, startPackagePage } from '../support/package_page.mjs';
import { startRelay, startUdpServer } from '../support/relay.mjs';

const RUNS = 11;
const browsers = {
  '': [],
  _embedded: ['--force-fieldtrials=WebRTC-IceHandshakeDtls/Enabled/'],
};

process.env.CAUSEWAY_RELAY ??= `${process.env.CAUSEWAY_BUILD ?? 'build/release'}/relay/causeway-relay`;

const udp = await startUdpServer();
const site = await startPackagePage();
const path = await startDelayPath({ rtt: 0 });
const relay = await startRelay(udp.port, ...path.relayOptions, '--origin', site.origin);
path.to(relay);

for (const [suffix, flags] of Object.entries(browsers)) {
  const browser = await startChromium(...flags);
  const page = await openPackagePage(browser, site);
  await openingTime(page, path.url); // not counted, as the browser first starts processes that it needs
  for (path.rtt of [0, 100]) {
    const times = [];
    for (let i = 0; i < RUNS; i++) times.push(await openingTime(page, path.url));
    times.sort((a, b) => a - b);
    console.log(`open_ms_rtt_${path.rtt}${suffix} ${times[RUNS >> 1].toFixed(0)} ms`);
  }
  await browser.close();
}

await relay.stop();
await path.close();
await udp.stop();
site.stop();
