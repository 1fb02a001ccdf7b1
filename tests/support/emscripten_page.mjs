// Programs that Emscripten has compiled, in pages that the relay serves.
import { copyFileSync, cpSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { startRelay, startUdpServer } from './relay.mjs';
import { until } from './rtc.mjs';

/** Starts two echo servers and a raw relay in front of them, which serves the programs and the package. */
export async function startSockets(t, { upstreams = 2, answer } = {}) {
  const root = mkdtempSync(join(tmpdir(), 'causeway-emscripten-'));
  const programs = process.env.CAUSEWAY_EMSCRIPTEN;
  for (const name of readdirSync(programs))
    if (/\.(js|mjs|wasm)$/.test(name)) copyFileSync(join(programs, name), join(root, name));
  cpSync(new URL('../../web/dist', import.meta.url), join(root, 'causeway-net'), {
    recursive: true,
  });
  writeFileSync(join(root, 'index.html'), '<!doctype html><title>A game</title>');
  const servers = [await startUdpServer(answer), await startUdpServer(answer)];
  const others = servers.slice(1, upstreams);
  const relay = await startRelay(
    servers[0].port,
    ...others.flatMap(({ port }) => ['--upstream', `127.0.0.1:${port}`]),
    ...['--rtc', '127.0.0.1:0', '--root', root],
  );
  t.after(async () => {
    await relay.stop();
    await Promise.all(servers.map((server) => server.stop()));
    rmSync(root, { recursive: true });
  });
  return { relay, servers, ports: servers.map(({ port }) => String(port)) };
}

/**
 * Runs a program in a page of its own. `shim` imports causeway-net/emscripten first; `websocket` is that of the
 * Module; with `webrtc: false` the browser has none, with `blocked: true` no WebSocket. `files` are written for the
 * program, which exports FS.
 */
export async function run(browser, { url }, program, options) {
  const { args, shim, websocket, webrtc = true, blocked, files } = options;
  const page = await browser.newPage();
  await page.goto(url);
  await page.evaluate(
    async ({ program, args, shim, websocket, webrtc, blocked, files }) => {
      const lines = (globalThis.lines = []);
      const complaints = (globalThis.complaints = []);
      const { error } = console;
      console.error = (...all) => (complaints.push(all.join(' ')), error(...all));
      if (!webrtc) delete globalThis.RTCPeerConnection;
      if (blocked)
        globalThis.WebSocket = class {
          constructor() {
            throw new DOMException('blocked', 'SecurityError');
          }
        };
      globalThis.Native = globalThis.WebSocket;
      globalThis.shim = shim && (await import('/causeway-net/emscripten/index.js'));
      const module = {
        arguments: args,
        print: (line) => lines.push(line),
        printErr: (line) => lines.push(`stderr: ${line}`),
        onExit: (code) => lines.push(`exit ${code}`),
        ...(websocket && { websocket }),
        onRuntimeInitialized: () => {
          for (const [name, bytes] of Object.entries(files ?? {}))
            globalThis.Module.FS.writeFile(name, new Uint8Array(bytes));
        },
      };
      globalThis.stats = () => (globalThis.shim ?? globalThis.Module.causeway).stats();
      if (program.endsWith('.mjs')) {
        const { default: create } = await import(`/${program}`);
        globalThis.Module = await create(module);
      } else {
        globalThis.Module = module;
        const script = document.createElement('script');
        script.src = `/${program}`;
        document.head.append(script);
      }
    },
    { program, args, shim, websocket, webrtc, blocked, files },
  );
  const value = (name) => page.evaluate((name) => globalThis[name], name);
  return {
    page,
    lines: () => value('lines'),
    complaints: () => value('complaints'),
    stats: () => page.evaluate(() => globalThis.stats()),
    /** Waits for a line of the program and returns all of them. */
    async until(pattern, ms = 30_000) {
      try {
        await until(
          String(pattern),
          async () => pattern.test((await value('lines')).join('\n')),
          ms,
        );
      } catch (error) {
        const said = [...(await value('lines')), ...(await value('complaints'))];
        throw new Error(`${error.message}; it said: ${said.join('\n')}`, { cause: error });
      }
      return value('lines');
    },
    close: () => page.close(),
  };
}
