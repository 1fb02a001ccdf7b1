// Reads the command line of the program causeway-net.
import { isIP } from 'node:net';
import { parseArgs } from 'node:util';
import { isLoopback } from './addresses.mjs';

export const usage = `usage: causeway-net init FOLDER
       causeway-net dev --server FILE [--root FOLDER] [--listen ADDRESS:PORT] [--expose] [--relay FILE]
       causeway-net doctor URL [--token URL] [--origin ORIGIN] [--json]

init    writes a small game into a new folder: page, messages and server in TypeScript
dev     for development only: serves the page, runs the game server, gives a token to whoever asks, and
        carries its datagrams to the game server. It needs the packages vite and ws.
  --server FILE           the module that exports what listen() of causeway-net/server gives; it is
                          started again when it or what it imports changes
  --root FOLDER           where index.html of the page is (default: the current folder)
  --listen ADDRESS:PORT   where browsers find it (default 127.0.0.1:8080; port 0: any free one)
  --expose                allows an address that other machines reach
  --relay FILE            the program causeway-relay, for WebRTC (default: the one on the PATH or in the
                          current folder, or that the variable CAUSEWAY_RELAY names; none: WebSocket only)
doctor  says what stands between this machine and the game of a relay; exits with 1 if anything does
  --token URL             where the backend gives a token to a POST, or a file with one; a player enters
                          the game with it for two seconds
  --origin ORIGIN         what the relay is told as the page's origin, such as https://game.example
  --json                  prints one JSON object`;

/** The error of a command line that cannot be understood. */
export class UsageError extends Error {}

/** Returns `{ host, port }` of `ADDRESS:PORT`. */
function readListen(text, expose) {
  const [, bracketed, plain, digits] = /^(?:\[(.*)\]|([^:]*)):(\d{1,5})$/.exec(text) ?? [];
  const host = bracketed ?? plain;
  const port = Number(digits);
  if (!host || !isIP(host) || port > 65535)
    throw new UsageError(`--listen takes an address and a port, as in 127.0.0.1:8080, not ${text}`);
  if (!expose && !isLoopback(host))
    throw new UsageError(
      `--listen ${text}: other machines could reach it, and everybody who does gets a token for the ` +
        'game; add --expose if that is what you want',
    );
  return { host, port };
}

function readDev(args) {
  const { values } = parseArgs({
    args,
    options: {
      server: { type: 'string' },
      root: { type: 'string', default: '.' },
      listen: { type: 'string', default: '127.0.0.1:8080' },
      expose: { type: 'boolean', default: false },
      relay: { type: 'string', default: process.env.CAUSEWAY_RELAY },
    },
  });
  if (!values.server)
    throw new UsageError('dev needs --server FILE: the module that exports the game server');
  return { ...values, listen: readListen(values.listen, values.expose) };
}

function readInit(args) {
  const { positionals } = parseArgs({ args, allowPositionals: true, options: {} });
  if (positionals.length !== 1)
    throw new UsageError('init needs the name of one new folder, as in causeway-net init my-game');
  return { folder: positionals[0] };
}

function readDoctor(args) {
  const text = { type: 'string' };
  const { values, positionals } = parseArgs({
    args,
    allowPositionals: true,
    options: { token: text, origin: text, json: { type: 'boolean', default: false } },
  });
  const [url] = positionals;
  if (positionals.length !== 1 || !/^(https?|wss?):/.test(url) || !URL.canParse(url))
    throw new UsageError('doctor needs the address of a relay, such as https://relay.example/');
  return { ...values, url, key: process.env.CAUSEWAY_KEY };
}

const readers = { dev: readDev, doctor: readDoctor, init: readInit };

/**
 * Reads the arguments of the program: the command, and its options.
 * @throws {@link UsageError} that says what is wrong
 */
export function readArguments([command, ...args]) {
  if (!command) throw new UsageError(usage);
  if (command === '--help' || command === '-h' || args.some((arg) => /^(--help|-h)$/.test(arg)))
    return { command: 'help' };
  if (!Object.hasOwn(readers, command))
    throw new UsageError(`there is no command ${command}; causeway-net --help lists them`);
  try {
    return { command, options: readers[command](args) };
  } catch (error) {
    if (!error.code?.startsWith('ERR_PARSE_ARGS')) throw error;
    throw new UsageError(`${error.message}\ncauseway-net --help lists the options`);
  }
}
