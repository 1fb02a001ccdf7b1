import { throwIfAborted } from '../abort.js';
import { DEFAULT_DATAGRAM_SIZE, PAYLOAD_MAX, SECURE_OVERHEAD } from '../generated.js';
import { coreOf, type CoreOptions } from '../loader.js';
import { checkOptions } from '../options.js';
import { PayloadClient } from '../secure/payload_client.js';
import { BaseTransport } from '../transports/base.js';
import { openNearest, type TransportOptions } from '../transports/race.js';
import { relayList, type RelayAddresses } from '../transports/session.js';
import type {
  Transport,
  TransportClose,
  TransportKind,
  TransportState,
} from '../transports/transport.js';
import { fitsTransport, tickInterval } from './carrier.js';
import { ClientRunner } from './client_runner.js';
import type { Through } from './connect.js';
import type { DisconnectReason } from './ending.js';
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

/** The close codes of WebSocket for the ends of a connection that are not an ordinary one. */
const closeCodes: Partial<Record<DisconnectReason, number>> = { timeout: 1006, stopping: 1001 };

/**
 * This is a secure connection with a game server that sends and takes bytes, not messages. It is a transport: each
 * datagram is such a payload, encrypted from the page to the game server. It sends up to 1075 bytes, or up to 1200 with
 * a greater `maxDatagramSize`, and always receives up to 1200. {@link openSecureTransport} makes one. Like any
 * transport it ends once, and what has been put over it ends with it; so it has no `reconnect`. To connect again, open
 * another one with another token.
 */
export class SecureTransport extends BaseTransport {
  readonly #client: PayloadClient;
  readonly #runner: ClientRunner;
  /** The code and reason with which this side has closed it. */
  #close: TransportClose | undefined;

  /** @internal */
  constructor(
    client: PayloadClient,
    runner: ClientRunner,
    { maxDatagramSize }: Transport,
    options: SecureTransportOptions,
  ) {
    super(Math.min(PAYLOAD_MAX, maxDatagramSize - SECURE_OVERHEAD), options);
    this.#client = client;
    this.#runner = runner;
  }

  get kind(): TransportKind {
    return this.#runner.transport.kind;
  }

  override get state(): TransportState {
    return super.state === 'open' ? this.#runner.transport.state : super.state;
  }

  /**
   * Returns whether a payload has to wait: it waits here before it is encrypted, as long as its packet would have to.
   * @internal
   */
  override isBusy(size: number): boolean {
    return this.#runner.isBusy(size + SECURE_OVERHEAD);
  }

  protected override put(payload: Uint8Array<ArrayBuffer>): boolean {
    this.#client.send(payload);
    return this.#runner.transmit();
  }

  protected override end(code: number, reason: string): void {
    this.#close = { code, reason };
    this.#runner.disconnect();
  }

  /** Takes the payload of the latest datagram, if there is one. @internal */
  take(): void {
    const payload = this.#client.next();
    if (payload) this.arrived(payload.buffer);
  }

  /** Handles the end of the connection. @internal */
  finish(reason: DisconnectReason, message: string, close?: TransportClose): void {
    const code = closeCodes[reason] ?? 1000;
    this.ended(this.#close ?? close ?? { code, reason: message });
  }
}

/**
 * Opens a secure connection with a game server that speaks netcode with payloads of its own, through the
 * nearest of the relays. For netcode with reliable, put an {@link Endpoint} over it.
 * @throws what `connect` throws.
 */
export async function openSecureTransport(
  relays: RelayAddresses,
  options: SecureTransportOptions,
): Promise<SecureTransport> {
  checkOptions('openSecureTransport', options, ['token']);
  const urls = relayList(relays);
  throwIfAborted(options.signal);
  const core = await coreOf(options);
  const client = new PayloadClient(core);
  let transport: SecureTransport | undefined;
  const runner: ClientRunner = new ClientRunner(
    core,
    client,
    {
      tokens: new Tokens(core, options.token),
      returns: false,
      open: (signal, server, others = urls) => openNearest(others, { ...options, signal, server }),
      through: options.through,
      interval: tickInterval(),
    },
    {
      carried: (carrier) => {
        fitsTransport(DEFAULT_DATAGRAM_SIZE, carrier);
        transport ??= new SecureTransport(client, runner, carrier, options);
      },
      received: () => transport?.take(),
      ended: (reason, message, close) => {
        transport?.finish(reason, message, close);
        runner.destroy();
      },
    },
  );
  await runner.connect(options.signal);
  return transport!;
}
