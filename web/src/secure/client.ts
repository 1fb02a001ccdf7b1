import type { Core } from '../core.js';
import type { CoreErrorCode } from '../errors.js';
import {
  DATAGRAM_MAX,
  REQUEST_SIZE,
  SECURE_OVERHEAD,
  SECURE_PACKET_MAX,
  clientConfigAt,
  clientConfigSize,
  netcodeClientStatsStruct,
} from '../generated.js';
import { Outgoing } from '../memory.js';
import type { Policy } from './policy.js';
import type { CoreSchema } from '../messages/codec.js';
import { withChannels } from '../messages/channels.js';
import { createEnd, withConfig } from '../messages/connection_config.js';
import { MessageEnd, type DatagramEnd } from '../messages/message_end.js';
import type { Schema } from '../messages/schema.js';
import type { ConnectionConfig } from '../messages/types.js';
import {
  beginToConnect,
  droppedBy,
  explain,
  farewellOf,
  stateNumber,
  stateOf,
  type ClientState,
  type Farewell,
} from './core_client.js';

/** The traffic on the wire, counted since the connection was begun. */
export interface ClientStats {
  readonly datagramsSent: number;
  readonly datagramsReceived: number;
  /** Datagrams received that were no packets of this connection, or came a second time. */
  readonly datagramsDropped: number;
  /** The number of them for each error; an error that is not there has not happened. */
  readonly dropped: { readonly [Code in CoreErrorCode]?: number };
  readonly bytesSent: number;
  readonly bytesReceived: number;
}

/**
 * This is the client's end of a secure connection, like `cw_client` in C: it has no I/O and no clock. Bytes come from
 * the caller, and so does the time, in seconds that only go forward. `GameClient` is this over a transport.
 */
export class Client<Of extends Schema = Schema> extends MessageEnd<Of> implements DatagramEnd<Of> {
  readonly maxDatagramSize: number;
  readonly #connection: number;
  readonly #netcode: number;
  readonly #incoming: number;
  readonly #outgoing: Outgoing;

  /** @throws {@link MisuseError} with a code that says which part of schema or config cannot work. */
  constructor(core: Core, schema: Of, options: ConnectionConfig = {}) {
    const { exports } = core;
    const config = withChannels(schema, options);
    const create = (types: CoreSchema): number =>
      withConfig(core, types, config, (connection) => {
        const made = core.memoryFor(clientConfigSize);
        exports.cw_client_config_default(made);
        core.memory.setU32(made + clientConfigAt.connection, connection);
        return core.made((out) => exports.cw_client_create(made, out));
      });
    super(core, createEnd(core, schema, config, create, exports.cw_client_destroy));
    this.#connection = exports.cw_client_connection(this.address);
    this.#netcode = exports.cw_client_netcode(this.address);
    const payload = exports.cw_connection_max_datagram_size(this.#connection);
    this.maxDatagramSize = Math.max(payload + SECURE_OVERHEAD, REQUEST_SIZE);
    this.#incoming = this.buffer(DATAGRAM_MAX);
    this.#outgoing = new Outgoing(core.memory, this.buffer(SECURE_PACKET_MAX));
  }

  protected override get connection(): number {
    // Throws when the client has been destroyed.
    void this.address;
    return this.#connection;
  }

  /** The `cw_netcode_client` that carries this one. */
  private get netcode(): number {
    void this.address;
    return this.#netcode;
  }

  /**
   * Begins to connect with a token.
   * @throws {@link MisuseError} `TOKEN_SIZE`, `VERSION`, `TOKEN_TIMES`, `TOKEN_ADDRESSES` for what is no
   *   token, `SCHEMA` when it is for another schema.
   */
  connect(token: Uint8Array, now: number): void {
    const { core, address } = this;
    beginToConnect(core, token, (copy, size) =>
      core.exports.cw_client_connect(address, copy, size, now),
    );
  }

  /** Tells a policy where this client is. @internal */
  tell(policy: Policy): void {
    policy.follow(stateNumber(this.core, this.netcode), this.serverIndex);
  }

  get state(): ClientState {
    return stateOf(this.core, this.netcode);
  }

  /** While connected: the slot of the server, from 0, and how many it has. */
  slot(): { readonly index: number; readonly count: number } {
    const { exports } = this.core;
    const { netcode } = this;
    return {
      index: exports.cw_netcode_client_index(netcode),
      count: exports.cw_netcode_client_max_clients(netcode),
    };
  }

  /** Returns what the server said when it ended the connection. */
  farewell(): Farewell {
    return farewellOf(this.core, this.netcode);
  }

  /** One sentence that says what the state means. */
  explain(): string {
    const { core, address } = this;
    const sentence = explain(core, this.netcode);
    if (!core.exports.cw_client_schema_difference(address, core.scratch)) return sentence;
    const { memory, scratch } = core;
    const [message, field] = [scratch, scratch + 4]
      .map((at) => memory.u32(at))
      .map((at) => at && memory.text(at));
    return message
      ? `${sentence}; they first differ at ${[message, field].filter(Boolean).join('.')}`
      : `${sentence}; it has more messages, or other channels`;
  }

  /** The index of the token's server that it is connected to or trying, from 0. */
  get serverIndex(): number {
    return this.core.exports.cw_netcode_client_server_index(this.netcode);
  }

  /**
   * While it connects: goes to the token's server of this index and asks it from the beginning, as it does by
   * itself when a server does not answer in time.
   * @throws {@link MisuseError} `INVALID_ARGUMENT` when there is none, `CONNECTED`, `NOT_CONNECTED`
   */
  tryServer(index: number, now: number): void {
    this.core.check(this.core.exports.cw_netcode_client_try_server(this.netcode, index, now));
  }

  receive(datagram: Uint8Array, now: number): boolean {
    const { core, address } = this;
    const size = core.memory.put(datagram, this.#incoming, DATAGRAM_MAX);
    return core.exports.cw_client_receive(address, 0, this.#incoming, size, now) === 0;
  }

  update(now: number): void {
    this.core.exports.cw_client_update(this.address, now);
  }

  transmit(now: number): Uint8Array<ArrayBuffer> | undefined {
    return this.transmitView(now)?.slice();
  }

  /** @internal */
  transmitView(now: number): Uint8Array<ArrayBuffer> | undefined {
    const { exports } = this.core;
    const out = this.#outgoing;
    const size = exports.cw_client_transmit(this.address, out.address, SECURE_PACKET_MAX, now, 0);
    return size > 0 ? out.view(size) : undefined;
  }

  /**
   * Says that from now on datagrams leave from another address, as over another relay: the client proves
   * to the server that it is the same one, and the connection goes on. It does no harm when the address
   * is the same after all.
   * @throws {@link MisuseError} `NOT_CONNECTED`
   */
  move(now: number): void {
    this.core.check(this.core.exports.cw_netcode_client_move(this.netcode, now));
  }

  /** Ends the connection, or the attempt; the packets that tell the server wait in {@link transmit}. */
  disconnect(): void {
    this.core.exports.cw_client_disconnect(this.address);
  }

  /** Returns the traffic on the wire. */
  clientStats(): ClientStats {
    const { core, netcode } = this;
    const { exports } = core;
    const stats = core.read(netcodeClientStatsStruct, (out) =>
      exports.cw_netcode_client_get_stats(netcode, out),
    );
    const dropped = droppedBy((error) => exports.cw_netcode_client_dropped(netcode, error));
    return { ...stats, dropped };
  }
}
