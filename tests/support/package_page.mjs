// An empty page of an origin of its own, from which it can import the package.
import { createServer } from 'node:http';
import { readFile } from 'node:fs/promises';
import { once } from 'node:events';
import { dist } from './causeway.mjs';
import { own } from './fixture.mjs';
import { newPage } from './browsers.mjs';

const types = { js: 'text/javascript', wasm: 'application/wasm' };

export async function startPackagePage(t) {
  const server = createServer(async ({ url }, response) => {
    const [, name] = /^\/dist\/([\w./-]+)$/.exec(url) ?? [];
    const body = name
      ? await readFile(new URL(name, dist))
      : '<!doctype html><title>A page</title>';
    response.setHeader('content-type', types[name?.split('.').at(-1)] ?? 'text/html');
    response.end(body);
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  own(t, () => server.close());
  return `http://127.0.0.1:${server.address().port}`;
}

/** Opens the page, which has the package as `globalThis.causeway`. */
export async function openPackagePage(t, browser, origin) {
  const page = await newPage(t, browser);
  await page.goto(`${origin}/`);
  await page.evaluate(async () => (globalThis.causeway = await import('/dist/core/index.js')));
  return page;
}

/**
 * Returns the milliseconds until a transport over WebRTC is open to that relay, in such a page. With a session, the page
 * makes use of what the relay told it before.
 */
export const openingTime = (page, url, session) =>
  page.evaluate(
    async ([url, session]) => {
      const begun = performance.now();
      const transport = await globalThis.causeway.WebRtcTransport.connect(url, { session });
      const took = performance.now() - begun;
      transport.close();
      return took;
    },
    [url, session],
  );
