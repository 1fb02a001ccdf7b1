// Programs that Emscripten has compiled, in pages that the relay serves.
import { copyFileSync, cpSync, readdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { dist } from './causeway.mjs';
import { temporaryFolder } from './fixture.mjs';
import { until } from './patience.mjs';
import { startRelay } from './relay.mjs';
import { startUdpServer } from './udp_server.mjs';
import { newPage } from './browsers.mjs';

/** Makes the folder that the relay serves: the programs of a folder, the package, and a page. */
export function makeRoot(t, programs, page = '<!doctype html><title>A game</title>') {
  const root = temporaryFolder(t);
  for (const name of readdirSync(programs))
    if (/\.(js|mjs|wasm)$/.test(name)) copyFileSync(join(programs, name), join(root, name));
  cpSync(fileURLToPath(new URL('.', dist)), join(root, 'causeway-net'), { recursive: true });
  writeFileSync(join(root, 'index.html'), page);
  return root;
}

/** Starts two echo servers and a raw relay in front of them, which serves the programs and the package. */
export async function startSockets(t, { upstreams = 2, answer } = {}) {
  const servers = [await startUdpServer(t, { answer }), await startUdpServer(t, { answer })];
  const others = servers.slice(1, upstreams);
  const root = makeRoot(t, process.env.CAUSEWAY_EMSCRIPTEN);
  const relay = await startRelay(t, {
    upstream: servers[0].upstream,
    args: [
      ...others.flatMap(({ upstream }) => ['--upstream', upstream]),
      ...['--rtc', '127.0.0.1:0', '--root', root],
    ],
  });
  return { relay, servers, ports: servers.map(({ port }) => String(port)) };
}

/**
 * Runs a program in a page of its own. `shim` imports causeway-net/emscripten first; `websocket` is that of the
 * Module; with `webrtc: false` the browser has none, with `blocked: true` no WebSocket. `files` are written for the
 * program, which exports FS.
 */
export async function run(t, browser, { url }, program, options) {
  const { args, shim, websocket, webrtc = true, blocked, files } = options;
  const page = await newPage(t, browser);
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
    async until(pattern) {
      let said = [];
      await until(
        () => `${pattern} from the program, which said:\n${said.join('\n')}`,
        async () => {
          const lines = await value('lines');
          said = [...lines, ...(await value('complaints'))];
          return pattern.test(lines.join('\n'));
        },
        20,
      );
      return value('lines');
    },
  };
}
