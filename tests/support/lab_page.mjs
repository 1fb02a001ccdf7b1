// The lab as web/lab/run serves it, and helpers for tests of its page.
import { join } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { require } from './packages.mjs';
import { own } from './fixture.mjs';
import { lineOf, startProgram } from './programs.mjs';
import { startRelay } from './relay.mjs';

const { preview } = await import(pathToFileURL(require.resolve('vite')));
const root = fileURLToPath(new URL('../../web/lab', import.meta.url));

/** Serves the lab, and returns its address. */
export async function serveLab(t) {
  const server = await preview({
    root,
    logLevel: 'warn',
    build: { outDir: join(process.env.CAUSEWAY_BUILD, 'demo/lab') },
    preview: { host: '127.0.0.1', port: 0 },
  });
  own(t, () => server.close());
  return `http://127.0.0.1:${server.httpServer.address().port}/`;
}

/** Starts the lab's server; returns it and its address. */
export async function startLabServer(t) {
  const server = startProgram(t, process.env.CAUSEWAY_LAB_SERVER, ['127.0.0.1:0'], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const [upstream] = await lineOf(server, /127\.0\.0\.1:\d+$/);
  return { server, upstream };
}

/**
 * Starts a relay that serves the lab, in front of a lab server. On a busy machine a page may send nothing for longer than
 * the relay would wait.
 */
export const startLabRelay = (t, upstream, ...more) => {
  const root = join(process.env.CAUSEWAY_BUILD, 'demo/lab');
  const always = ['--rtc', '127.0.0.1:0', '--root', root];
  const patient = ['--request-timeout', '60', '--idle-timeout', '0'];
  return startRelay(t, { upstream, args: [...always, ...patient, ...more] });
};

const recording = fileURLToPath(new URL('../core/golden/recording.bin', import.meta.url));

/** Opens a recording in the lab's page of recordings. */
export async function openRecording(page) {
  await page.locator('#file').setInputFiles(recording);
  await page.locator('#recorded').waitFor();
}

/** Waits until the page shows the lab, and stops its run. */
export async function stopped(page) {
  await page.waitForFunction(() => globalThis.page?.run);
  await page.evaluate(() => globalThis.page.step(0));
}

/** Does the run again from its beginning, for so many ticks; returns what came of each column. */
export const runFor = (page, ticks) =>
  page.evaluate((count) => {
    globalThis.page.restart();
    globalThis.page.step(count);
    return globalThis.page.run.tracks.map(({ protocol, hash, latencies }) => ({
      protocol,
      hash,
      states: latencies.state.quantile(0.99),
      messages: latencies.message.quantile(0.99),
    }));
  }, ticks);
