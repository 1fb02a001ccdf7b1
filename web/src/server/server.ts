import {
  DATAGRAM_MAX,
  NOBODY,
  SECURE_PACKET_MAX,
  USER_DATA_SIZE,
  addressAt,
  addressStruct,
  disconnectReasons,
  errorCodes,
  netcodeServerConfigAt,
  netcodeServerConfigStruct,
  netcodeServerStatsAt,
  netcodeServerStatsStruct,
  serverClientInfoAt,
  serverConfigAt,
  serverConfigStruct,
  serverEventAt,
  serverEvents,
} from '../generated.js';
import type { CoreErrorCode } from '../errors.js';
import type { CoreSchema } from '../messages/codec.js';
import { withChannels, type Channel, type MessageChannels } from '../messages/channels.js';
import { createEnd, withConfig } from '../messages/connection_config.js';
import { MessageEnd } from '../messages/message_end.js';
import { checkChannel, fillMessage, handedOver, readEvent } from '../messages/passing.js';
import type { MessageName, MessageValue, Schema } from '../messages/schema.js';
import { WasmObject } from '../module.js';
import {
  ADDRESS_TEXT_SIZE,
  addressList,
  keyBytes,
  parseAddress,
  unsigned64,
  wholeSeconds,
  writeAddresses,
} from './checks.js';
import { droppedBy, type Farewell } from '../secure/core_client.js';
import type { ServerCore } from './core.js';
import type {
  BroadcastOptions,
  OutgoingDatagram,
  ServerClientInfo,
  ServerConfig,
  ServerDisconnectReason,
  ServerEvent,
  ServerStats,
} from './types.js';

const reasons: Record<
  (typeof disconnectReasons)[keyof typeof disconnectReasons],
  ServerDisconnectReason
> = {
  BY_CLIENT: 'client',
  BY_SERVER: 'kicked',
  TIMED_OUT: 'timeout',
  REPLACED: 'replaced',
  STOPPING: 'stopping',
};

/** The connection of the client in a slot. */
export class SlotConnection<Of extends Schema> extends MessageEnd<Of> {
  /** @internal */
  constructor(core: ServerCore, address: number, schema: CoreSchema, channels: MessageChannels) {
    // The server owns the connection and the schema, so nothing is destroyed here.
    super(core, { address, destroy: () => {}, schema, channels });
  }

  protected override get connection(): number {
    return this.address;
  }
}

/** Creates a server in the module, and returns its address. */
function create(
  core: ServerCore,
  schema: CoreSchema,
  config: ServerConfig & { readonly channels: readonly Channel[] },
  unixOffsetSeconds: number,
): number {
  const { exports, memory } = core;
  const protocolId = unsigned64('protocolId', config.protocolId);
  const privateKey = keyBytes(config.privateKey);
  const list = addressList('addresses', config.addresses, 1);
  const { takeover = true, insecure = false, maxTokenLifeSeconds } = config;
  wholeSeconds('maxTokenLifeSeconds', maxTokenLifeSeconds, 0, 2 ** 32 - 1);
  const { size } = serverConfigStruct;
  const make = (at: number, connection: number): number => {
    exports.cw_server_config_default(at);
    const netcode = at + serverConfigAt.netcode;
    memory.setConfig(at, serverConfigStruct, { ...config, connection });
    memory.setConfig(netcode, netcodeServerConfigStruct, {
      ...config,
      protocolId,
      unixOffsetSeconds,
      addresses: at + size,
      addressCount: list.length,
      takeover: Boolean(takeover),
      insecure: Boolean(insecure),
    });
    writeAddresses(core, at + size, { addresses: list });
    memory.bytes.set(privateKey, netcode + netcodeServerConfigAt.privateKey);
    return core.made((out) => exports.cw_server_create(at, out));
  };
  return withConfig(core, schema, config, (connection) =>
    core.withSecret(size + list.length * addressStruct.size, (at) => make(at, connection)),
  );
}

/**
 * A game server, like `cw_server` in C: it has no I/O and no clock. Bytes come from the caller, and so does the time,
 * in seconds that only go forward. `GameServer` puts a server over a UDP socket.
 */
export class Server<Of extends Schema = Schema> extends WasmObject<ServerCore> {
  /** The address of the `cw_netcode_server` that carries this one. */
  readonly #netcode: number;
  readonly #schema: CoreSchema;
  readonly #channels: MessageChannels;
  /** The address of memory for the address of a datagram, as a struct, and then for the text of an address. */
  readonly #address: number;
  readonly #text: number;
  readonly #incoming: number;
  readonly #outgoing: number;
  /** The number of CONNECTED and DISCONNECTED events that have been taken. */
  #changesTaken = 0;

  /**
   * @param unixOffsetSeconds Unix time minus the `now` of all calls
   * @throws TypeError or RangeError that names the option; {@link MisuseError} with a code that says which part of
   *   schema or config cannot work, `ADDRESS` for an address that is none
   */
  constructor(core: ServerCore, schema: Of, options: ServerConfig, unixOffsetSeconds: number) {
    const config = withChannels(schema, options);
    const make = (types: CoreSchema): number => create(core, types, config, unixOffsetSeconds);
    const made = createEnd(core, schema, config, make, core.exports.cw_server_destroy);
    super(core, made.address, made.destroy);
    this.#netcode = core.exports.cw_server_netcode(this.address);
    this.#schema = made.schema;
    this.#channels = made.channels;
    this.#address = this.buffer(addressStruct.size);
    this.#text = this.buffer(ADDRESS_TEXT_SIZE);
    this.#incoming = this.buffer(DATAGRAM_MAX);
    this.#outgoing = this.buffer(SECURE_PACKET_MAX);
  }

  /**
   * Takes a datagram that arrived. Then take the events with {@link next}, and those of the client's connection.
   * @param host the IP address that it came from
   * @returns the slot of the client at this address, if there is one
   */
  receive(datagram: Uint8Array, host: string, port: number, now: number): number | undefined {
    const { core, address } = this;
    const { exports, memory } = core;
    const from = this.#address;
    if (!parseAddress(core, host, from)) return undefined;
    memory.view.setUint16(from + addressAt.port, port, true);
    const size = memory.put(datagram, this.#incoming, DATAGRAM_MAX);
    exports.cw_server_receive(address, from, this.#incoming, size, now);
    const slot = exports.cw_netcode_server_client_at(this.#netcode, from) >>> 0;
    return slot === NOBODY ? undefined : slot;
  }

  /** Returns whether there is a client at this address. */
  hasClient(host: string, port: number): boolean {
    const { core } = this;
    const at = this.#address;
    if (!parseAddress(core, host, at)) return false;
    core.memory.view.setUint16(at + addressAt.port, port, true);
    return core.exports.cw_netcode_server_client_at(this.#netcode, at) >>> 0 !== NOBODY;
  }

  /** Returns the next datagram to send, `undefined` when there is none. Call it until then. */
  transmit(now: number): OutgoingDatagram | undefined {
    const { exports, memory } = this.core;
    const to = this.#address;
    const size = exports.cw_server_transmit(
      this.address,
      this.#outgoing,
      SECURE_PACKET_MAX,
      now,
      to,
    );
    if (size === 0) return undefined;
    const port = memory.view.getUint16(to + addressAt.port, true);
    // The text of an address without a port is that of the host.
    memory.view.setUint16(to + addressAt.port, 0, true);
    return { datagram: memory.copy(this.#outgoing, size), host: this.#format(to), port };
  }

  /**
   * Lets time pass. Call it once per tick, then {@link transmit}.
   * @param unixOffsetSeconds Unix time minus `now`
   */
  update(now: number, unixOffsetSeconds: number): void {
    const { exports } = this.core;
    exports.cw_netcode_server_set_unix_offset(this.#netcode, unixOffsetSeconds);
    exports.cw_server_update(this.address, now);
  }

  /**
   * Takes the next event while some client's coming or going is still to be told, and returns `undefined` otherwise;
   * then {@link connection} gives the events of each client. A client's messages come before its going.
   */
  next(): ServerEvent<Of> | undefined {
    const { core, address } = this;
    const { exports, memory, scratch } = core;
    exports.cw_netcode_server_get_stats(this.#netcode, scratch);
    const connections = Number(memory.u64(scratch + netcodeServerStatsAt.connections));
    const changes = 2 * connections - memory.u32(scratch + netcodeServerStatsAt.clients);
    if (this.#changesTaken === changes || !exports.cw_server_next(address, scratch))
      return undefined;
    const type = memory.u32(scratch + serverEventAt.type);
    const client = memory.u32(scratch + serverEventAt.client);
    const event = readEvent<Of>(core, this.#schema, serverEventAt);
    if (event) return { type: 'connection', client, event };
    this.#changesTaken++;
    if (type === serverEvents.CONNECTED) return { type: 'connect', client };
    const reason =
      `${memory.u32(scratch + serverEventAt.reason)}` as keyof typeof disconnectReasons;
    return { type: 'disconnect', client, reason: reasons[disconnectReasons[reason]] };
  }

  /** Returns the connection of the client in a slot, to send messages to the client and to take its own. */
  connection(client: number): SlotConnection<Of> {
    const { core } = this;
    const address = core.exports.cw_server_connection(this.address, client);
    if (address === 0) throw core.error('NOT_CONNECTED');
    return new SlotConnection(core, address, this.#schema, this.#channels);
  }

  /** Returns the number of the channel on which messages of this type go when none is named. @internal */
  channelOf(type: MessageName<Of>): number {
    return this.#channels.of(type);
  }

  /** Returns what is known of the client in a slot; `undefined` when there is no client. */
  client(client: number): ServerClientInfo | undefined {
    const { exports, memory, scratch } = this.core;
    if (!exports.cw_server_client(this.address, client, scratch)) return undefined;
    return {
      id: memory.u64(scratch + serverClientInfoAt.id),
      tokenId: memory
        .u64(scratch + serverClientInfoAt.tokenId)
        .toString(16)
        .padStart(16, '0'),
      address: this.#format(scratch + serverClientInfoAt.address),
      userData: memory.copy(memory.u32(scratch + serverClientInfoAt.userData), USER_DATA_SIZE),
      datagramsRefused: Number(memory.u64(scratch + serverClientInfoAt.datagramsRefused)),
    };
  }

  /**
   * Sends a message to the clients in these slots, or to all. It is checked and encoded once. Some may have no room
   * for it; see {@link broadcastRefused}.
   * @throws what {@link Connection.send} throws because of the message; nothing is sent then
   */
  broadcast<Name extends MessageName<Of>>(
    channel: number,
    type: Name,
    value: MessageValue<Of, Name>,
    { now, to, block }: BroadcastOptions,
  ): void {
    const { core, address } = this;
    const { exports } = core;
    checkChannel(channel, this.#channels.count);
    // Memory that cannot be had is an error before there is a message.
    if (to) core.memoryFor(4 * to.length);
    const number = this.#schema.number(type);
    core.check(exports.cw_server_create_message(address, number, core.scratch));
    const message = fillMessage(core, this.#schema, number, value, block);
    const send = (): number => {
      if (!to) return exports.cw_server_broadcast(address, channel, message, NOBODY, now);
      const slots = core.memoryFor(4 * to.length);
      to.forEach((slot, i) => core.memory.setU32(slots + 4 * i, slot));
      return exports.cw_server_broadcast_to(address, channel, message, slots, to.length, now);
    };
    handedOver(core, message, -send());
  }

  /** Returns whether the latest broadcast was for the client in this slot, but found no room. */
  broadcastRefused(client: number): boolean {
    return this.core.exports.cw_server_broadcast_refused(this.address, client) !== 0;
  }

  /**
   * Ends the connection of a client when everything that was sent to it before has arrived, but at the latest after
   * `flushSeconds`; 0 ends it at once.
   */
  disconnect(client: number, { code, text }: Farewell, flushSeconds: number, now: number): void {
    const { core, address } = this;
    const { exports } = core;
    const bytes = new TextEncoder().encode(text);
    core.withMemory(bytes.length + 1, (place) => {
      core.memory.bytes.set(bytes, place);
      core.memory.bytes[place + bytes.length] = 0;
      exports.cw_server_flush_and_disconnect(address, client, code, place, flushSeconds, now);
    });
  }

  /**
   * Ends all connections because the server is about to stop. {@link transmit} then returns the datagrams that tell the
   * clients.
   */
  disconnectAll(): void {
    this.core.exports.cw_server_disconnect_all(this.address);
  }

  stats(): ServerStats {
    const { core, address } = this;
    const { exports } = core;
    const netcode = exports.cw_server_netcode(address);
    const stats = core.read(netcodeServerStatsStruct, (out) =>
      exports.cw_netcode_server_get_stats(netcode, out),
    );
    const dropped = droppedBy((error) => exports.cw_netcode_server_dropped(netcode, error));
    const broadcastsRefused = Number(exports.cw_server_broadcasts_refused(address));
    return { ...stats, broadcastsRefused, dropped };
  }

  /** Returns the sentence for an error that `stats().dropped` counts. @internal */
  explain(code: CoreErrorCode): string {
    return this.core.error((errorCodes as readonly string[]).indexOf(code)).message;
  }

  /** Returns the text of an address in the module. */
  #format(address: number): string {
    const { exports, memory } = this.core;
    return memory.text(exports.cw_address_format(address, this.#text));
  }
}
