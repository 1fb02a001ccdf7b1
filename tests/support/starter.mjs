// The game that `npx causeway-net init` writes, in a project that has the packages which `npm install` would fetch.
import { execFileSync } from 'node:child_process';
import { mkdirSync, readFileSync, symlinkSync } from 'node:fs';
import { join } from 'node:path';
import { newPage } from './browsers.mjs';
import { until } from './patience.mjs';
import { lineOf, startProgram } from './programs.mjs';
import { modules, packedProject } from './packed.mjs';

export const program = 'node_modules/causeway-net/bin/causeway-net.mjs';

/** The game's packages for development, and their programs. The tests have another version of TypeScript as well. */
const tools = {
  vite: ['vite', 'vite/bin/vite.js', 'vite'],
  typescript: ['typescript5', 'typescript/bin/tsc', 'tsc'],
};

/** Makes the game; returns its folder, that of the project around it, and what `init` has said. */
export function makeStarter(t) {
  const { folder: project, run } = packedProject(t);
  const packages = join(project, 'node_modules');
  mkdirSync(join(packages, '.bin'));
  for (const [name, [own, file, command]] of Object.entries(tools)) {
    symlinkSync(join(modules, own), join(packages, name));
    symlinkSync(join('..', file), join(packages, '.bin', command));
  }
  const said = run(process.execPath, program, 'init', 'my-game');
  return { project, game: join(project, 'my-game'), said };
}

/** Runs one of the game's scripts to its end, as `npm run NAME -- ARGUMENTS` does. */
export function runScript(game, name, { args = [], env = {} } = {}) {
  const command = ['run', name, '--silent', ...(args.length > 0 ? ['--', ...args] : [])];
  const options = { cwd: game, encoding: 'utf8', stdio: 'pipe', env: { ...process.env, ...env } };
  try {
    return execFileSync('npm', command, options);
  } catch (error) {
    throw new Error(`npm ${command.join(' ')}: ${error.stdout}${error.stderr}`);
  }
}

/** Starts the game as `npm start` does, when it has been built, and resolves when it listens. */
export async function startGame(t, game, env) {
  const { scripts } = JSON.parse(readFileSync(join(game, 'package.json'), 'utf8'));
  const [, ...args] = scripts.start.split(' ');
  const child = startProgram(t, process.execPath, args, {
    cwd: game,
    env: { ...process.env, ...env },
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  await lineOf(child, /^Open http:/);
  return child;
}

/** Watches a page: the errors in its console, the hosts that it asks, and the WebSocket frames either way. */
function watch(page) {
  const seen = { errors: [], hosts: new Set(), sent: 0, received: 0 };
  const ask = (url) => url.startsWith('data:') || seen.hosts.add(new URL(url).host);
  page.on('console', (message) => message.type() === 'error' && seen.errors.push(message.text()));
  page.on('request', (request) => ask(request.url()));
  page.on('websocket', (socket) => {
    ask(socket.url());
    socket.on('framesent', () => seen.sent++);
    socket.on('framereceived', () => seen.received++);
  });
  return seen;
}

/** Counts the datagrams that come to a page over WebRTC, as `globalThis.overWebRtc`. */
const countDatagrams = (page) =>
  page.addInitScript(() => {
    globalThis.overWebRtc = 0;
    globalThis.RTCPeerConnection = class extends globalThis.RTCPeerConnection {
      createDataChannel(...of) {
        const channel = super.createDataChannel(...of);
        channel.addEventListener('message', () => globalThis.overWebRtc++);
        return channel;
      }
    };
  });

/** A page that plays has got so many datagrams. */
const DATAGRAMS = 100;

/** Resolves when a page of {@link newGamePage} plays over WebRTC. */
export const playsOverWebRtc = (page) =>
  until('datagrams over WebRTC', async () => (await page.evaluate('overWebRtc')) > DATAGRAMS);

/** Resolves when a page plays over WebSocket. */
export const playsOverWebSocket = (seen) =>
  until('datagrams both ways', () => Math.min(seen.sent, seen.received) > DATAGRAMS);

/** Makes a page, and watches it. */
export async function newGamePage(browser, options) {
  const page = await newPage(null, browser, { ignoreHTTPSErrors: true, ...options });
  await countDatagrams(page);
  return { page, seen: watch(page) };
}

/** Opens the page of the game, which may be in a frame of another one, and resolves when it plays. */
export async function openGame(browser, url, { inFrame = false } = {}) {
  const { page, seen } = await newGamePage(browser);
  await page.goto(url);
  const game = inFrame ? page.frameLocator('iframe') : page;
  await game.getByText('connected', { exact: true }).waitFor();
  return { page, seen };
}
