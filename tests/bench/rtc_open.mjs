// Measures how long a page of another origin takes to open a WebRTC transport to a relay that is 100 ms away and back,
// or here, over TCP without TLS: in Chromium with its defaults, where it embeds the DTLS handshake in its checks, and in
// Firefox; and how long when the page has been connected to that relay before (`again`). Each figure is the median of
// several runs.
import { startChromium, startFirefox } from '../support/browsers.mjs';
import { startDelayPath } from '../support/delay_path.mjs';
import { openPackagePage, openingTime, startPackagePage } from '../support/package_page.mjs';
import { startRelay } from '../support/relay.mjs';
import { startUdpServer } from '../support/udp_server.mjs';

const RUNS = 11;
const browsers = {
  '': () => startChromium(null),
  _embedded: () => startChromium(null, '--force-fieldtrials=WebRTC-IceHandshakeDtls/Enabled/'),
  _firefox: () => startFirefox(null),
};

const program = `${process.env.CAUSEWAY_BUILD ?? 'build/release'}/relay/causeway-relay`;
const udp = await startUdpServer(null);
const origin = await startPackagePage(null);
const path = await startDelayPath(null, { rtt: 0 });
const relay = await startRelay(null, {
  upstream: udp.upstream,
  path: process.env.CAUSEWAY_RELAY ?? program,
  args: [...path.relayOptions, '--origin', origin],
});
path.to(relay);

async function measure(page, name, session) {
  const times = [];
  for (let i = 0; i < RUNS; i++) times.push(await openingTime(page, path.url, session));
  times.sort((a, b) => a - b);
  console.log(`${name} ${times[RUNS >> 1].toFixed(0)} ms`);
}

for (const [suffix, start] of Object.entries(browsers)) {
  const browser = await start();
  const page = await openPackagePage(null, browser, origin);
  await openingTime(page, path.url); // not counted, as the browser first starts processes that it needs
  for (path.rtt of [0, 100]) {
    await measure(page, `open_ms_rtt_${path.rtt}${suffix}`);
    await measure(page, `open_ms_rtt_${path.rtt}_again${suffix}`, 'a'.repeat(22));
  }
  await browser.close();
}

process.exit(0);
