// WebKitGTK for the length of a test: Debian's MiniBrowser on a screen of its own, driven by plain WebDriver
// calls. It has no WebRTC.
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { delimiter, join } from 'node:path';
import { own, temporaryFolder } from './fixture.mjs';
import { freePort } from './free_port.mjs';
import { until } from './patience.mjs';
import { startProgram } from './programs.mjs';

const machine = { x64: 'x86_64', arm64: 'aarch64' }[process.arch];
const BROWSER =
  process.env.MINIBROWSER ?? `/usr/lib/${machine}-linux-gnu/webkit2gtk-4.1/MiniBrowser`;

const inPath = (program) =>
  process.env.PATH.split(delimiter).some((folder) => existsSync(join(folder, program)));

/** Returns the names of what is needed and missing, or nothing. */
export const webKitMisses = () => {
  const missing = ['WebKitWebDriver', 'Xvfb'].filter((program) => !inPath(program));
  if (!existsSync(BROWSER)) missing.push(BROWSER);
  return missing.length > 0 && `not here: ${missing.join(', ')} (webkit2gtk-driver and xvfb)`;
};

/** Starts a screen that nobody sees. */
async function startScreen(t) {
  const screen = startProgram(
    t,
    'Xvfb',
    ['-displayfd', '3', '-screen', '0', '1280x800x24', '-nolisten', 'tcp'],
    { stdio: ['ignore', 'ignore', 'ignore', 'pipe'] },
  );
  const [number] = await once(screen.stdio[3], 'data');
  return `:${String(number).trim()}`;
}

/** A page as the other browsers' libraries give one, as far as the tests need it. */
class Page {
  constructor(call) {
    this.call = call;
  }

  goto(url) {
    return this.call('POST', '/url', { url: String(url) });
  }

  goBack() {
    return this.call('POST', '/back', {});
  }

  /** Calls a function of the page, which may give a promise, with one value. */
  async evaluate(what, value) {
    const script = `const [value, done] = arguments;
      Promise.resolve(value).then(${what}).then(
        (result) => done({ result }), (error) => done({ error: String(error.stack ?? error) }));`;
    const { result, error } = await this.call('POST', '/execute/async', {
      script,
      args: [value ?? null],
    });
    if (error) throw new Error(error);
    return result;
  }
}

/** Returns the driver of WebDriver calls at a port, when it answers. */
async function startDriver(t, display, home) {
  const port = await freePort('tcp');
  startProgram(t, 'WebKitWebDriver', [`--port=${port}`], {
    stdio: 'ignore',
    env: { PATH: process.env.PATH, HOME: home, DISPLAY: display, GDK_BACKEND: 'x11' },
  });
  const call = async (method, path, body) => {
    const response = await fetch(`http://127.0.0.1:${port}${path}`, {
      method,
      ...(body && { body: JSON.stringify(body) }),
    });
    const { value } = await response.json();
    if (!response.ok) throw new Error(`${method} ${path}: ${value.error} ${value.message}`);
    return value;
  };
  const answers = () =>
    call('GET', '/status').then(
      () => true,
      () => false,
    );
  await until('the driver', answers);
  return call;
}

/** Starts a browser with one page. */
export async function startWebKit(t) {
  const display = await startScreen(t);
  const call = await startDriver(t, display, temporaryFolder(t));
  const { sessionId } = await call('POST', '/session', {
    capabilities: {
      alwaysMatch: {
        'webkitgtk:browserOptions': { binary: BROWSER, args: ['--automation'] },
        timeouts: { script: 120_000 },
      },
    },
  });
  const session = `/session/${sessionId}`;
  // The browser would outlive a driver that ends before its session.
  own(t, () => call('DELETE', session));
  return { page: new Page((method, path, body) => call(method, session + path, body)) };
}
