// A causeway-relay in development, where one is installed: pages play over WebRTC through it. Requests for it come to
// the one address of the page, and are passed on.
import { spawn } from 'node:child_process';
import { accessSync, constants } from 'node:fs';
import { request as ask } from 'node:http';
import { connect } from 'node:net';
import { networkInterfaces } from 'node:os';
import { delimiter, resolve } from 'node:path';
import { createInterface } from 'node:readline';
import { isLoopback } from './addresses.mjs';

const HOST = '127.0.0.1';

/** The folders besides those of PATH: packages put the relay in the first two, and developers beside their game. */
const FOLDERS = ['/usr/local/bin', '/usr/bin', '.'];

const isProgram = (file) => {
  try {
    accessSync(file, constants.X_OK);
    return true;
  } catch {
    return false;
  }
};

/** Returns the file of the relay: the one that was named, or the one that is installed; undefined when there is none. */
export function findRelay(named) {
  if (named) return resolve(named);
  const folders = [...(process.env.PATH ?? '').split(delimiter), ...FOLDERS].filter(Boolean);
  return folders.map((folder) => resolve(folder, 'causeway-relay')).find(isProgram);
}

const bracketed = (host) => (host.includes(':') ? `[${host}]` : host);

/** Returns the relay's options for WebRTC at an address of this machine, which may stand for every one. */
function rtcOptions(host) {
  const rtc = ['--rtc', `${bracketed(host)}:0`];
  if (host !== '0.0.0.0' && host !== '::') return [...rtc, '--rtc-advertise', bracketed(host)];
  const own = Object.values(networkInterfaces())
    .flat()
    .map(({ address }) => address)
    .filter((address) => host === '::' || !address.includes(':'))
    // A link-local address is good in one network only.
    .filter((address) => !/^fe80:/i.test(address))
    .sort((a, b) => Number(isLoopback(a)) - Number(isLoopback(b)))
    .slice(0, 8);
  return [...rtc, ...own.flatMap((address) => ['--rtc-advertise', bracketed(address)])];
}

/** Returns the beginning of a request as it was sent. */
function headOf({ method, url, httpVersion, rawHeaders }) {
  const lines = [`${method} ${url} HTTP/${httpVersion}`];
  for (let i = 0; i < rawHeaders.length; i += 2)
    lines.push(`${rawHeaders[i]}: ${rawHeaders[i + 1]}`);
  return `${lines.join('\r\n')}\r\n\r\n`;
}

/** Runs the relay for one game server after the other. While there is none, another relay answers. */
export class NativeRelay {
  #program;
  #host;
  #instead;
  #print;
  #child;
  /** The port of the relay, when it listens; undefined when it does not run. */
  #port = Promise.resolve();

  /**
   * @param host the address of the page, where WebRTC is to be reached too
   * @param instead the relay that answers when this one does not run
   */
  constructor(program, host, instead, print) {
    this.#program = program;
    this.#host = host;
    this.#instead = instead;
    this.#print = print;
  }

  /** Sets where datagrams go from now on, as for the relay in its stead. */
  set server(server) {
    this.#child?.kill();
    this.#child = undefined;
    this.#instead.server = undefined;
    this.#port = server ? this.#start(server) : Promise.resolve();
  }

  wants(request) {
    return this.#instead.wants(request);
  }

  async upgrade(request, socket, head) {
    const port = await this.#port;
    if (!port) return this.#instead.upgrade(request, socket, head);
    const way = connect(port, HOST);
    way.on('error', () => socket.destroy());
    socket.on('error', () => way.destroy());
    socket.on('close', () => way.destroy());
    way.write(headOf(request));
    way.write(head);
    way.pipe(socket);
    socket.pipe(way);
  }

  /** Answers a page that asks for WebRTC or WebTransport, or ends the former. */
  async offer(request, response) {
    const port = await this.#port;
    if (!port) return this.#instead.offer(request, response);
    const { method, url: path, headers } = request;
    const asked = ask({ host: HOST, port, method, path, headers }, (answer) => {
      response.writeHead(answer.statusCode, answer.headers);
      answer.pipe(response);
    });
    asked.on('error', () =>
      response.headersSent ? response.destroy() : response.writeHead(502).end(),
    );
    request.pipe(asked);
  }

  close() {
    this.server = undefined;
    this.#instead.close();
  }

  /** Starts the relay, and resolves with its port; without one, if it does not run, pages still play. */
  #start(server) {
    const options = [
      ...['--listen', `${HOST}:0`, '--upstream', `${bracketed(server.host)}:${server.port}`],
      ...rtcOptions(this.#host),
      // Requests are passed on only for those who may come, and all come from one address.
      ...['--origin', '*', '--max-sessions-per-address', '0', '--drain-timeout', '0'],
      // This ends the relay when its input does, with this process.
      ...['--exec', 'cat'],
    ];
    const child = spawn(this.#program, options, { stdio: ['pipe', 'ignore', 'pipe'] });
    this.#child = child;
    child.stdin.on('error', () => {});
    let last = 'it has ended';
    return new Promise((resolve) => {
      const failed = (why) => {
        resolve();
        if (this.#child !== child) return;
        this.#child = undefined;
        this.#port = Promise.resolve();
        this.#print(`${this.#program} does not run, so pages play over WebSocket: ${why}`);
        this.#instead.server = server;
      };
      createInterface(child.stderr).on('line', (line) => {
        const [, port] = / listening on \S+:(\d+)$/.exec(line) ?? [];
        if (port) resolve(Number(port));
        if (/^\S+ (warn|error) /.test(line)) this.#print(`causeway-relay: ${line}`);
        last = line;
      });
      child.once('error', (error) => failed(error.message));
      child.once('close', () => failed(last));
    });
  }
}
