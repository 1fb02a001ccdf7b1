// A page of a real browser that is a client of the tests' game server. `page` may be of any driver that has `goto` and
// `evaluate`.
import { cpSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { startSecureServer } from './secure.mjs';
import { newPage } from './browsers.mjs';
import { temporaryFolder } from './fixture.mjs';

/** Makes a folder with the demo's files, of which the tests use the package, and the messages of the tests' server. */
export function makeRoot(t) {
  const root = temporaryFolder(t);
  cpSync(join(process.env.CAUSEWAY_BUILD, 'demo'), root, { recursive: true });
  const schema = readFileSync(new URL('chat_schema.mjs', import.meta.url), 'utf8');
  writeFileSync(join(root, 'chat_schema.js'), schema.replace('./causeway.mjs', 'causeway-net'));
  return root;
}

/** Starts the server, and the relay, which serves the page. */
export const startChat = (t, { root = makeRoot(t), relayOptions = [], ...options } = {}) =>
  startSecureServer(t, { ...options, relayOptions: ['--root', root, ...relayOptions] });

/** Opens a page that the relay serves; the test may close it before it ends. */
export async function openPage(t, browser, { url }) {
  const page = await newPage(t, browser);
  await page.goto(url);
  return page;
}

/** Connects in the page, which keeps the client; returns the outcome. */
export const attempt = (page, token, options = {}) =>
  page.evaluate(
    async ([bytes, { relays = '/', transports, abortAfter, otherSchema, channels, inWorker }]) => {
      const { connect, f32, message, schema } = await import('causeway-net');
      const { messages } = await import('/chat_schema.js');
      const join = inWorker
        ? (await import('/causeway-net/worker/index.js')).connectInWorker
        : connect;
      const controller = new AbortController();
      if (abortAfter) setTimeout(() => controller.abort(), abortAfter);
      try {
        globalThis.client = await join(relays, {
          token: new Uint8Array(bytes),
          schema: otherSchema ? schema(message('other', { x: f32() })) : messages,
          ...(transports && { transports }),
          ...(channels && { channels }),
          signal: controller.signal,
        });
        return { transport: globalThis.client.transport };
      } catch ({ name, code, stage, message }) {
        return { name, code, stage, ...(channels && { message }) };
      }
    },
    [[...token], options],
  );

/** Says so many things, twenty in a second; returns what was sent, what came back, and the figures of the client. */
export const chat = (page, count) =>
  page.evaluate(async (most) => {
    const { client } = globalThis;
    const wait = (each) => new Promise((resolve) => setTimeout(resolve, each));
    const [sent, said] = [[], []];
    let worlds = 0;
    client.addEventListener('message', ({ message: { type, value } }) => {
      if (type !== 'said') worlds++;
      else if (value.player === client.slot.index) said.push(value.text);
    });
    while (sent.length < most) {
      sent.push(`message ${sent.length}`);
      client.send(0, 'say', { text: sent[sent.length - 1] });
      client.send(1, 'move', { x: Math.random(), y: 0.5 });
      await wait(50);
    }
    for (let i = 0; i < 4000 && said.length < sent.length; i++) await wait(50);
    return { sent, said, worlds, stats: await client.stats() };
  }, count);

export const leave = (page) => page.evaluate(() => globalThis.client.disconnect());

/** Returns how the client of the page ended. */
export const ending = (page) => page.evaluate(async () => (await globalThis.client.closed).reason);
