import { reasonOf, throwIfAborted } from '../abort.js';
import { ClosedError, type HandshakeCode } from '../errors.js';
import {
  CLIENT_FAREWELL_MS,
  DEFAULT_DATAGRAM_SIZE,
  PAYLOAD_MAX,
  SECURE_OVERHEAD,
} from '../generated.js';
import { coreOf, type CoreOptions } from '../loader.js';
import { checkOptions } from '../options.js';
import { PayloadClient } from '../secure/payload_client.js';
import { Policy } from '../secure/policy.js';
import { BaseTransport } from '../transports/base.js';
import type { SessionTransport } from '../transports/links.js';
import { openSession, type TransportOptions } from '../transports/race.js';
import type {
  Transport,
  TransportClose,
  TransportKind,
  TransportState,
} from '../transports/transport.js';
import type { Through } from './connect.js';
import { endingOf } from './ending.js';
import { fitsTransport, tickInterval } from './host.js';
import { seconds } from './message_peer.js';
import { refusal, transportEnd } from './refusal.js';
import { endsForServer, openServer } from './servers.js';
import { Ticks } from './ticks.js';
import { Tokens, type TokenOption } from './token.js';

/** The options of {@link openSecureTransport}. */
export interface SecureTransportOptions extends TransportOptions, CoreOptions {
  /** The connect token from the game's backend, for this connection only: 2048 bytes; or a function that gets it. */
  readonly token: TokenOption;
  /** When the signal is aborted, the attempt is given up; a transport that it has become goes on. */
  readonly signal?: AbortSignal;
  /** The same option as that of {@link connect}. */
  readonly through?: Through;
}

/**
 * A secure connection with a game server that sends and takes bytes, not messages. It is a transport whose datagrams
 * are those payloads, between the page and the game server itself. It sends up to 1075 bytes, or up to 1200 with a
 * greater `maxDatagramSize`, and always receives up to 1200. {@link openSecureTransport} makes one. Like any
 * transport it ends once, and what has been put over it ends with it; so it has no `reconnect`. To connect again, open
 * another one with another token.
 */
export class SecureTransport extends BaseTransport {
  /** Resolves when the server has taken the client. @internal */
  readonly connected: Promise<void>;
  readonly #client: PayloadClient;
  readonly #policy: Policy;
  /** Opens a session with the server that the policy tries. */
  readonly #open: () => Promise<SessionTransport>;
  /** The session with the server that is being tried, or that has taken the client. */
  #session!: SessionTransport;
  /** The session, or what the application has put before it. */
  #carrier!: Transport;
  readonly #through: Through;
  /** True while the next session is being opened after one that has been left. */
  #approaching = false;
  #ticks!: Ticks;
  #connected = false;
  #over = false;
  #resolveConnected!: () => void;
  #rejectConnected!: (reason: unknown) => void;
  /** Tells the server of the end when the page goes, because its transports go with it. */
  readonly #pageGoes = (): void => this.abort(new ClosedError());

  /** @internal */
  constructor(
    client: PayloadClient,
    policy: Policy,
    session: SessionTransport,
    open: () => Promise<SessionTransport>,
    options: Pick<SecureTransportOptions, 'through' | 'maxWaitSeconds'>,
  ) {
    const { through = (transport) => transport } = options;
    const carrier = through(session);
    fitsTransport(DEFAULT_DATAGRAM_SIZE, carrier);
    super(Math.min(PAYLOAD_MAX, carrier.maxDatagramSize - SECURE_OVERHEAD), options);
    this.#client = client;
    this.#policy = policy;
    this.#open = open;
    this.#through = through;
    this.connected = new Promise((resolve, reject) => {
      this.#resolveConnected = resolve;
      this.#rejectConnected = reject;
    });
    globalThis.addEventListener?.('pagehide', this.#pageGoes);
    this.#carry(session, carrier);
  }

  get kind(): TransportKind {
    return this.#carrier.kind;
  }

  override get state(): TransportState {
    return super.state === 'open' ? this.#carrier.state : super.state;
  }

  /**
   * Returns whether a payload has to wait: it waits here before it is encrypted, as long as its packet would have to.
   * @internal
   */
  override isBusy(size: number): boolean {
    return this.#session.isBusy(size + SECURE_OVERHEAD);
  }

  protected override put(payload: Uint8Array<ArrayBuffer>): boolean {
    this.#client.send(payload);
    return this.#transmit();
  }

  protected override end(code: number, reason: string): void {
    this.#client.disconnect();
    this.#finish({ code, reason });
  }

  /** Ends the attempt to connect. @internal */
  abort(reason: unknown): void {
    this.#rejectConnected(reason);
    this.close();
  }

  /** Lets the session carry the connection, or the attempt. */
  #carry(session: SessionTransport, carrier: Transport): void {
    this.#session = session;
    this.#carrier = carrier;
    this.#approaching = false;
    this.#client.tryServer(this.#policy.server, seconds());
    this.#policy.link(true);
    session.addEventListener('state', () => {
      if (this.#session === session && !this.#over) this.#policy.link(session.state === 'open');
    });
    // The relay may have another session now, which the server knows nothing of.
    session.addEventListener('relink', () => {
      if (!this.#connected || this.#over) return;
      this.#client.move(seconds());
      this.#transmit();
    });
    void carrier.closed.then((close) => this.#lost(carrier, close));
    this.#transmit();
    this.#ticks = new Ticks(tickInterval(), () => this.#tick());
    carrier.ondatagram = (datagram) => this.#receive(datagram);
  }

  /** Goes from the server that has not taken the client to the one that the policy tries. */
  #leave(): void {
    this.#approaching = true;
    this.#ticks.stop();
    this.#carrier.ondatagram = null;
    this.#carrier.close();
    this.#open()
      .then((session) => {
        if (this.#over) session.close();
        else this.#carry(session, this.#through(session));
      })
      .catch((error: unknown) => this.abort(error));
  }

  #receive(datagram: Uint8Array<ArrayBuffer>): void {
    if (this.#over) return;
    if (this.#client.receive(datagram, seconds())) this.#policy.hear();
    const payload = this.#client.next();
    this.#follow();
    if (payload) this.arrived(payload.buffer);
    if (this.#over || this.#approaching) return;
    this.#transmit();
    this.#ticks.catchUp();
  }

  #tick(): void {
    this.#policy.update();
    this.#client.update(seconds());
    this.#transmit();
    this.#follow();
  }

  /** Sends the packets that are due; returns whether the transport took them all. */
  #transmit(last = false): boolean {
    const now = seconds();
    let taken = true;
    for (let out = this.#client.transmit(now); out; out = this.#client.transmit(now))
      taken = this.#carrier.send(out, last) && taken;
    return taken;
  }

  /** Does what the policy says of the core's state. */
  #follow(): void {
    if (this.#over || this.#approaching) return;
    this.#client.tell(this.#policy);
    const action = this.#policy.next();
    if (action === 'OPEN') return this.#leave();
    if (action === 'RENEW') this.#session.renew();
    if (action === 'END') {
      this.#refuse(this.#client.state as HandshakeCode, this.#client.explain());
      const { closeCode, message } = endingOf(this.#client);
      this.#finish({ code: closeCode, reason: message });
    } else if (this.#client.state === 'CONNECTED' && !this.#connected) {
      this.#connected = true;
      this.#session.keep();
      this.#resolveConnected();
    }
  }

  /** Handles the end of the transport below, which broke or was closed by the relay. */
  #lost(carrier: Transport, close: TransportClose): void {
    if (this.#over || this.#approaching || carrier !== this.#carrier) return;
    if (!this.#connected && endsForServer(close) && this.#policy.skip()) return this.#leave();
    const { code, message } = transportEnd(this.kind, close);
    this.#refuse(code, message);
    this.#client.disconnect();
    this.#finish(close);
  }

  /** Rejects the attempt, if there is no connection yet. */
  #refuse(code: HandshakeCode, message: string): void {
    if (this.#connected) return;
    const stage = code === 'RESPONSE_TIMED_OUT' ? 'response' : 'request';
    this.#rejectConnected(refusal(code, stage, message, this.#policy));
  }

  #finish(close: TransportClose): void {
    this.#over = true;
    this.#ticks.stop();
    globalThis.removeEventListener?.('pagehide', this.#pageGoes);
    this.#transmit(true);
    setTimeout(() => this.#carrier.close(), CLIENT_FAREWELL_MS);
    this.#client.destroy();
    this.#policy.destroy();
    this.ended(close);
  }
}

/**
 * Opens a secure connection with a game server that speaks netcode with payloads of its own, through the
 * relay at `url`. For netcode with reliable, put an {@link Endpoint} over it.
 * @throws what `connect` throws.
 */
export async function openSecureTransport(
  url: string | URL,
  options: SecureTransportOptions,
): Promise<SecureTransport> {
  checkOptions('openSecureTransport', options, ['token']);
  const { signal } = options;
  throwIfAborted(signal);
  const core = await coreOf(options);
  const { bytes, expireTime, servers } = await new Tokens(core, options.token).next();
  const policy = new Policy(core, false);
  policy.start(false);
  policy.token(servers.length, expireTime);
  const open = (): Promise<SessionTransport> =>
    openServer(policy, servers, (server) => openSession(url, { ...options, server }));
  const session = await open().catch((error: unknown) => {
    policy.destroy();
    throw error;
  });
  const client = new PayloadClient(core);
  let transport: SecureTransport;
  try {
    client.connect(bytes, seconds());
    transport = new SecureTransport(client, policy, session, open, options);
  } catch (error) {
    session.close();
    client.destroy();
    policy.destroy();
    throw error;
  }
  const abort = (): void => transport.abort(reasonOf(signal!));
  signal?.addEventListener('abort', abort);
  try {
    if (signal?.aborted) abort();
    await transport.connected;
    return transport;
  } finally {
    signal?.removeEventListener('abort', abort);
  }
}
