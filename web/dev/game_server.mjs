// Builds the game server of a developer, runs it in a thread, and starts it again when one of its files changes.
import { join, resolve } from 'node:path';
import { pathToFileURL } from 'node:url';
import { Worker } from 'node:worker_threads';
import { reachedAt } from './addresses.mjs';

/** Milliseconds that a server has to tell its clients that it stops. */
const STOP_MS = 1000;
/**
 * Milliseconds without further changes before the server is built, because an editor may write a file in several steps.
 */
const SETTLE_MS = 50;

/** Returns `{ host, port }` at which a server that listens at this address is reached. */
function reach(address) {
  const [, host, port] = /^\[?(.*?)\]?:(\d+)$/.exec(address);
  return { host: reachedAt(host), port: Number(port) };
}

export class GameServer {
  #vite;
  #root;
  #file;
  #tell;
  #files = new Set();
  #worker;
  /** The thread of a server that does not listen yet. */
  #starting;
  #builds = 0;
  #settling;
  /** The starts so far, which run one after the other, and their number. */
  #turn = Promise.resolve();
  #starts = 0;
  #asked = new Map();

  /**
   * @param vite the package, and its server of the page, which watches files
   * @param file the module that exports the server
   * @param tell is called with `{ host, port }` of a server that has started, with `undefined` when it has ended,
   *   with an error that the developer must see, and with connect tokens that the server refuses
   */
  constructor({ vite, watcher, root, file, tell }) {
    this.#vite = vite;
    this.#root = root;
    this.#file = resolve(file);
    this.#tell = tell;
    watcher.add(this.#file);
    watcher.on('change', (changed) => {
      if (!this.#files.has(resolve(changed))) return;
      clearTimeout(this.#settling);
      this.#settling = setTimeout(() => void this.start(), SETTLE_MS);
    });
  }

  /**
   * Builds the server and starts it instead of the one that runs. Resolves when it listens or has failed; `tell` says
   * which.
   */
  start() {
    const start = this.#supersede();
    this.#turn = this.#turn
      .then(() => this.#start(start))
      .catch((error) => start === this.#starts && this.#tell({ error }));
    return this.#turn;
  }

  /** Makes a connect token for a new player; rejects while no server runs. */
  token() {
    const worker = this.#worker;
    if (!worker) return Promise.reject(new Error('the game server does not run'));
    const [id] = crypto.getRandomValues(new BigUint64Array(1));
    return new Promise((given, failed) => {
      this.#asked.set(id, { given, failed });
      worker.postMessage({ id, clientId: id });
    });
  }

  async close() {
    clearTimeout(this.#settling);
    this.#supersede();
    await this.#turn;
    await this.#stop();
  }

  /**
   * Ends a start that has not come to listen: it may never do so, and must not hold up the start of a corrected server.
   * @returns the number of this start
   */
  #supersede() {
    void this.#starting?.terminate();
    return ++this.#starts;
  }

  async #start(start) {
    const built = await this.#build();
    await this.#stop();
    if (start !== this.#starts) return;
    const worker = new Worker(new URL('game_thread.mjs', import.meta.url), {
      workerData: { file: pathToFileURL(built).href },
    });
    this.#starting = worker;
    const address = await new Promise((listens, fails) => {
      worker.once('message', (message) => listens(message.address));
      worker.once('error', fails);
      worker.once('exit', () => fails(new Error('it has ended')));
    });
    this.#starting = undefined;
    this.#worker = worker;
    worker.on('message', ({ id, token, refused }) => {
      if (refused) this.#tell({ refused });
      else this.#answered(id, ({ given }) => given(token));
    });
    worker.on('error', (error) => this.#tell({ error }));
    worker.on('exit', () => this.#exited(worker));
    this.#tell({ server: reach(address) });
  }

  async #build() {
    // A server that does not compile is watched too, so that a corrected file starts it.
    if (this.#files.size === 0) this.#files.add(this.#file);
    const outDir = join(this.#root, 'node_modules/.causeway');
    const name = `server-${process.pid}-${this.#builds++}.mjs`;
    const { output } = await this.#vite.build({
      root: this.#root,
      logLevel: 'silent',
      ssr: { external: ['causeway-net'] },
      build: {
        ssr: this.#file,
        outDir,
        emptyOutDir: this.#builds === 1,
        target: 'node20',
        minify: false,
        sourcemap: 'inline',
        rolldownOptions: { output: { entryFileNames: name } },
      },
    });
    this.#files = new Set(output.flatMap(({ moduleIds = [] }) => moduleIds));
    return join(outDir, name);
  }

  async #stop() {
    const worker = this.#worker;
    if (!worker) return;
    const timer = setTimeout(() => void worker.terminate(), STOP_MS);
    await new Promise((ended) => {
      worker.once('exit', ended);
      worker.postMessage({ close: true });
    });
    clearTimeout(timer);
  }

  #exited(worker) {
    if (this.#worker !== worker) return;
    this.#worker = undefined;
    for (const id of [...this.#asked.keys()])
      this.#answered(id, ({ failed }) => failed(new Error('the game server has ended')));
    this.#tell({});
  }

  #answered(id, settle) {
    const asked = this.#asked.get(id);
    this.#asked.delete(id);
    if (asked) settle(asked);
  }
}
