/** Finds out what stands between a page, or a program on Node, and its game server. @module */
import { throwIfAborted } from '../abort.js';
import { ConnectError, relaySays } from '../errors.js';
import { openSecureTransport, type SecureTransport } from '../hosts/secure_transport.js';
import { Tokens, type ReadToken, type TokenAnswer, type TokenOption } from '../hosts/token.js';
import { coreOf, type CoreOptions } from '../loader.js';
import { checkOptions } from '../options.js';
import { PageRules } from '../transports/page_rules.js';
import { defaultKinds, kinds, type TransportOptions } from '../transports/race.js';
import { relayAddress, sessionKey } from '../transports/session.js';
import type { RelayTransportKind, Transport } from '../transports/transport.js';
import { within } from '../transports/within.js';
import { Fault, Skipped, advice, codeOf, serverFault, silent, type FaultCode } from './faults.js';
import { measure, milliseconds, percent, type PathFigures } from './path.js';

export type { FaultCode, PathFigures };

/** The outcome of one check. */
export interface Check {
  /** Such as `websocket`, `token` or `server`. */
  readonly name: string;
  /** A check that is `skipped` says nothing about the way: the relay does not serve WebRTC, for example. */
  readonly state: 'ok' | 'failed' | 'skipped';
  readonly code?: FaultCode;
  /** A text for people that says what was found. */
  readonly text: string;
}

/** The findings of {@link doctor}. */
export interface Diagnosis {
  readonly checks: readonly Check[];
  /** True when no check has failed. */
  readonly ok: boolean;
  /** The fault to begin with, if it has a name. */
  readonly code: FaultCode | undefined;
  /** A text for people that says what to do about it. */
  readonly text: string;
  /** The path to the game server, if it could be measured. */
  readonly path?: PathFigures;
}

/** Makes one check: returns what it has found to be well, or throws. @internal */
export type Probe = readonly [
  name: string,
  work: (token: ReadToken | undefined) => Promise<string>,
];

/** Options of {@link doctor}, with those of transports. */
export interface DoctorOptions extends Omit<TransportOptions, 'server'>, CoreOptions {
  /**
   * A token from the game's backend, or a function that asks for one. Without it, neither token nor game server are
   * looked at. With it, a player enters the game for two seconds.
   */
  readonly token?: TokenOption;
  /** The seconds that a check may take. Default 4. */
  readonly timeoutSeconds?: number;
  /** This function is called with each check when it is done. */
  readonly oncheck?: (check: Check) => void;
  /** Checks before all others, without which the others make no sense. @internal */
  readonly first?: readonly Probe[];
  /** Checks beside the others. @internal */
  readonly beside?: readonly Probe[];
}

/** Where several faults are found, these are the first ones to mend. The others follow. */
const ORDER = ['dns', 'tcp', 'tls', 'websocket', 'token', 'key', 'server'];

/** The places of the times in a connect token (netcode 1.02), which are 64 bits. */
const PROTOCOL_ID = 13;
const CREATED = 21;
/** Clocks that differ by so many seconds are as good as equal. */
const SAME_SECONDS = 5;

/** The work of {@link doctor}. */
class Doctor {
  readonly checks: Check[] = [];
  path: PathFigures | undefined;

  constructor(
    readonly relay: URL,
    readonly options: DoctorOptions,
  ) {}

  /** Makes a check, and returns whether all is well. */
  async check(name: string, work: () => Promise<string>): Promise<boolean> {
    let check: Check;
    try {
      check = { name, state: 'ok', text: await work() };
    } catch (error) {
      throwIfAborted(this.options.signal);
      const code = codeOf(error);
      const text = error instanceof Error ? error.message : String(error);
      const state = error instanceof Skipped ? 'skipped' : 'failed';
      check = { name, state, text, ...(code && { code }) };
    }
    this.checks.push(check);
    this.options.oncheck?.(check);
    return check.state === 'ok';
  }

  async run(): Promise<void> {
    const { options } = this;
    for (const [name, work] of options.first ?? [])
      if (!(await this.check(name, () => work(undefined)))) return;
    let token: ReadToken | undefined;
    const isNew = typeof options.token === 'function';
    const read = async (): Promise<string> => describe((token = await this.token()), isNew);
    const isGood = options.token !== undefined && (await this.check('token', read));
    const server = token?.servers[0];
    const beside = (options.beside ?? []).map(([name, work]) =>
      this.check(name, () => work(token)),
    );
    const opened = await this.transports(server);
    if (token && isGood && opened) await this.play(token.bytes, opened);
    await Promise.all(beside);
  }

  /** Gets the token and reads it. */
  async token(): Promise<ReadToken> {
    const { token } = this.options;
    const ask = async (): Promise<TokenAnswer> => (typeof token === 'function' ? token() : token!);
    const tokens = new Tokens(await coreOf(this.options), async () => {
      try {
        return await within(this.bounds, () => 'the backend does not answer', ask);
      } catch (error) {
        throw new Fault('TOKEN_FAILED', `there is no token: ${String(error)}`);
      }
    });
    return tokens.next();
  }

  /** Opens one link of each kind, and returns the best kind that opened. */
  async transports(server: string | undefined): Promise<RelayTransportKind | undefined> {
    const wanted = this.options.transports ?? defaultKinds();
    const session = sessionKey();
    const rules = new PageRules(this.relay);
    const open = async (kind: RelayTransportKind): Promise<string> => {
      const { token: _, core: _core, wasm: _wasm, ...options } = this.options;
      const how = { ...options, ...this.bounds, session, ...(server && { server }) };
      try {
        const transport = await kinds[kind](this.relay, how);
        transport.close();
        // A relay that refuses a link says so after it has opened.
        const late = (): Error => new Error('the link opens, but does not close');
        const { code } = await within(this.bounds, late, () => transport.closed);
        const said = relaySays(code);
        if (said) throw new ConnectError(said.code, 'handshake', `the relay ${said.means}`);
        return 'opens';
      } catch (error) {
        throw (await rules.broken(error)) ?? (await this.whyClosed(kind, error));
      }
    };
    try {
      const ok = await Promise.all(wanted.map((kind) => this.check(kind, () => open(kind))));
      return wanted.find((_, i) => ok[i]);
    } finally {
      rules.release();
    }
  }

  /** The bounds of one check. */
  get bounds(): { signal?: AbortSignal; timeoutSeconds: number } {
    const { signal, timeoutSeconds = 4 } = this.options;
    return { ...(signal && { signal }), timeoutSeconds };
  }

  /** Returns the fault that keeps a link from opening. */
  async whyClosed(kind: RelayTransportKind, error: unknown): Promise<unknown> {
    const { code, stage } = error as Partial<ConnectError>;
    const { message } = error as Error;
    if (code === 'NO_RTC' || (stage === 'setup' && kind !== 'websocket'))
      return new Skipped(message);
    if (code !== 'TRANSPORT' || stage === 'setup') return error;
    if (kind !== 'websocket')
      return stage === 'signalling' ? new Skipped(message) : new Fault('UDP_BLOCKED', message);
    const isHttp = this.options.first || (await answers(this.relay));
    return new Fault(
      isHttp ? 'NOT_RELAY' : 'UNREACHABLE',
      isHttp ? `what answers at ${this.relay} takes no WebSocket as a relay does` : message,
    );
  }

  /** Connects with the game server over a kind of link, and measures the path to it. */
  async play(token: Uint8Array, kind: RelayTransportKind): Promise<void> {
    const core = await coreOf(this.options);
    let transport: SecureTransport | undefined;
    const isTaken = await this.check('server', async () => {
      transport = await this.enter(token, kind);
      return 'takes the player';
    });
    if (!isTaken) return;
    await this.check(`path by ${kind}`, async () => {
      const path = (this.path = await measure(core, transport!, this.bounds.timeoutSeconds));
      const [rtt, jitter] = [path.rtt, path.jitter].map(milliseconds);
      const [up, down] = [path.lossUp, path.lossDown].map(percent);
      return `round trip ${rtt}, jitter ${jitter}, loss to the server ${up}, from it ${down}`;
    });
    transport!.close();
  }

  async enter(token: Uint8Array, kind: RelayTransportKind): Promise<SecureTransport> {
    let closed: number | undefined;
    const through = (session: Transport): Transport => {
      void session.closed.then(({ code }) => (closed = code));
      return session;
    };
    const how = { ...this.options, transports: [kind], token, through };
    try {
      return await within(this.bounds, silent, ({ signal }) =>
        openSecureTransport(this.relay, { ...how, signal }),
      );
    } catch (error) {
      throw serverFault(error, closed);
    }
  }

  diagnosis(): Diagnosis {
    const rank = ({ name }: Check): number => [...ORDER, name].indexOf(name);
    const failed = this.checks.filter(({ state }) => state === 'failed');
    const [first] = failed.sort((a, b) => rank(a) - rank(b));
    const { checks, path } = this;
    const code = first?.code;
    const todo = code && advice[code];
    return {
      checks,
      ok: !first,
      code,
      text: first ? [first.text, todo].filter(Boolean).join(': ') : 'all is well',
      ...(path && { path }),
    };
  }
}

/** Returns a server's address, of the name that a relay expects. */
function addressOf(name: string): string {
  const [host = '', port] = name.split('_');
  return `${host.includes('-') ? `[${host.replaceAll('-', ':')}]` : host}:${port}`;
}

/**
 * Says what a token is for.
 * @param isNew whether the backend has made it just now
 * @throws a fault when the clocks do not fit
 */
function describe({ bytes, servers, expireTime }: ReadToken, isNew: boolean): string {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.length);
  const now = Date.now() / 1000;
  const age = now - Number(view.getBigUint64(CREATED, true));
  const life = expireTime - now;
  if (age < -SAME_SECONDS)
    throw new Fault('CLOCK', `the backend made the token ${(-age).toFixed(0)} s in the future`);
  if (life <= 0)
    throw new Fault(
      isNew ? 'CLOCK' : 'TOKEN_EXPIRED',
      `the token has expired ${(-life).toFixed(0)} s ago`,
    );
  const id = view.getBigUint64(PROTOCOL_ID, true).toString(16);
  return `protocol id 0x${id}, for ${servers.map(addressOf).join(', ')}, expires in ${life.toFixed(0)} s`;
}

/** Returns whether anything that speaks HTTP answers there, which the page may not read. */
async function answers(relay: URL): Promise<boolean> {
  try {
    await fetch(relay, { mode: 'no-cors', cache: 'no-store' });
    return true;
  } catch {
    return false;
  }
}

/**
 * Tries each transport to the relay, the token and the game server, and says what stands in the way.
 * @param url the relay's address, as `connect` takes it
 * @throws {@link ConnectError} for what is no address; {@link MisuseError} `INVALID_ARGUMENT` for an option that is null
 */
export async function doctor(url: string | URL, options: DoctorOptions = {}): Promise<Diagnosis> {
  checkOptions('doctor', options);
  const found = new Doctor(relayAddress(url, 'http'), options);
  await found.run();
  return found.diagnosis();
}
