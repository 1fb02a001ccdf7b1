import {
  DATAGRAM_MAX,
  SECURE_PACKET_MAX,
  SERVER_OPTIONS_SIZE,
  USER_DATA_SIZE,
  createdFields,
  disconnectReasons,
  errorCodes,
  serverAbout,
  serverDestination,
  serverEvents,
  serverNews,
  serverNumberFields,
  serverOptions,
  serverStatsFields,
} from '../generated.js';
import { defaultChannels } from '../messages/channels.js';
import { CoreSchema } from '../messages/codec.js';
import { withConfig } from '../messages/connection_base.js';
import { MessageEnd } from '../messages/message_end.js';
import { checkChannel, readEvent, writeMessage } from '../messages/passing.js';
import type { MessageName, MessageValue, Schema } from '../messages/schema.js';
import { numbersOf } from '../memory.js';
import { WasmObject } from '../module.js';
import { addressBytes, addressList, keyBytes, noAddress, unsigned64 } from '../secure/checks.js';
import type { Farewell } from '../secure/core_client.js';
import type { ServerCore } from './core.js';
import type {
  BroadcastOptions,
  OutgoingDatagram,
  ServerClientFacts,
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

/** The number of no slot, `CW_SERVER_NOBODY`. */
const NOBODY = 2 ** 32 - 1;

/** Bytes that are enough for the text of an IP address. */
const HOST_SIZE = 64;

/** The connection of the client in a slot. */
export class SlotConnection<Of extends Schema> extends MessageEnd<Of> {
  /** @internal */
  constructor(core: ServerCore, address: number, schema: CoreSchema, channelCount: number) {
    // The server owns the connection and the schema, so nothing is destroyed here.
    super(core, { address, destroy: () => {}, schema, channelCount });
  }

  protected override get connection(): number {
    return this.address;
  }
}

/** Has the module make a server, which then has its address in the scratch area. */
function create(
  core: ServerCore,
  schema: CoreSchema,
  config: ServerConfig,
  unixOffsetSeconds: number,
): void {
  const { exports, memory } = core;
  const protocolId = unsigned64('protocolId', config.protocolId);
  const privateKey = keyBytes(config.privateKey);
  const addresses = addressList('addresses', config.addresses, 1);
  const text = addressBytes(addresses);
  const takeover = Number(config.takeover ?? true);
  const insecure = Number(config.insecure ?? false);
  const textAt = SERVER_OPTIONS_SIZE;
  const size = textAt + text.length;
  const options = core.allocate(size);
  try {
    const { bytes, view } = memory;
    numbersOf(serverNumberFields, { ...config, takeover, insecure }).forEach((number, i) =>
      view.setFloat64(options + 8 * i, number, true),
    );
    view.setFloat64(options + serverOptions.unixOffsetSeconds, unixOffsetSeconds, true);
    view.setBigUint64(options + serverOptions.protocolId, protocolId, true);
    bytes.set(privateKey, options + serverOptions.privateKey);
    bytes.set(text, options + textAt);
    const code = withConfig(core, schema, config, (pointer, numbers, channelCount) =>
      exports.server_create(
        pointer,
        numbers,
        channelCount,
        options,
        options + textAt,
        addresses.length,
      ),
    );
    if (errorCodes[code] === 'ADDRESS') throw noAddress({ addresses }, memory.u32(core.scratch));
    core.check(code);
  } finally {
    exports.release_secret(options, size);
  }
}

/**
 * A game server, like `cw_server` in C: it has no I/O and no clock. Bytes come from the caller, and so does the time,
 * in seconds that only go forward. `ServerHost` puts a server over a UDP socket.
 */
export class Server<Of extends Schema = Schema> extends WasmObject<ServerCore> {
  readonly #schema: CoreSchema;
  readonly #channelCount: number;
  readonly #host: number;
  readonly #incoming: number;
  readonly #outgoing: number;

  /**
   * @param unixOffsetSeconds Unix time minus the `now` of all calls
   * @throws TypeError or RangeError that names the option; {@link CoreError} with a code that says which part of
   *   schema or config cannot work, `ADDRESS` for an address that is none
   */
  constructor(core: ServerCore, schema: Of, config: ServerConfig, unixOffsetSeconds: number) {
    const types = new CoreSchema(core, schema);
    try {
      create(core, types, config, unixOffsetSeconds);
    } catch (error) {
      types.destroy();
      throw error;
    }
    // The server uses the schema until its end, so both are destroyed together.
    super(core, core.memory.struct(core.scratch, createdFields).object, (address) => {
      core.exports.server_destroy(address);
      types.destroy();
    });
    this.#schema = types;
    this.#channelCount = (config.channels ?? defaultChannels).length;
    this.#host = this.buffer(HOST_SIZE);
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
    const { exports, memory, scratch } = core;
    memory.putText(host, this.#host, HOST_SIZE);
    const size = memory.put(datagram, this.#incoming, DATAGRAM_MAX);
    exports.server_receive(address, this.#host, port, this.#incoming, size, now);
    const slot = memory.u32(scratch);
    return slot === NOBODY ? undefined : slot;
  }

  /** Returns the next datagram to send, `undefined` when there is none. Call it until then. */
  transmit(now: number): OutgoingDatagram | undefined {
    const { exports, memory, scratch } = this.core;
    const size = exports.server_transmit(this.address, this.#outgoing, SECURE_PACKET_MAX, now);
    if (size === 0) return undefined;
    return {
      datagram: memory.copy(this.#outgoing, size),
      host: memory.text(memory.u32(scratch + serverDestination.host)),
      port: memory.u32(scratch + serverDestination.port),
    };
  }

  /**
   * Lets time pass. Call it once per tick, then {@link transmit}.
   * @param unixOffsetSeconds Unix time minus `now`
   */
  update(now: number, unixOffsetSeconds: number): void {
    this.core.exports.server_update(this.address, unixOffsetSeconds, now);
  }

  /** Takes the next event, `undefined` when there is none. */
  next(): ServerEvent<Of> | undefined {
    const { core } = this;
    const { exports, memory, scratch } = core;
    const type = exports.server_next(this.address);
    if (type === 0) return undefined;
    const client = memory.u32(scratch + serverNews.client);
    if (type === serverEvents.CONNECTED) return { type: 'connect', client };
    if (type !== serverEvents.DISCONNECTED)
      return { type: 'connection', client, event: readEvent<Of>(core, this.#schema, type)! };
    const reason = `${memory.u32(scratch + serverNews.reason)}` as keyof typeof disconnectReasons;
    return { type: 'disconnect', client, reason: reasons[disconnectReasons[reason]] };
  }

  /** Returns the connection of the client in a slot, to send messages to the client and to take its own. */
  connection(client: number): SlotConnection<Of> {
    const { core } = this;
    const address = core.exports.server_connection(this.address, client);
    if (address === 0) throw core.error('NOT_CONNECTED');
    return new SlotConnection(core, address, this.#schema, this.#channelCount);
  }

  /** Returns what is known of the client in a slot; `undefined` when there is no client. */
  client(client: number): ServerClientFacts | undefined {
    const { exports, memory, scratch } = this.core;
    if (!exports.server_client(this.address, client)) return undefined;
    return {
      id: memory.u64(scratch + serverAbout.id),
      address: memory.text(memory.u32(scratch + serverAbout.address)),
      userData: memory.copy(memory.u32(scratch + serverAbout.userData), USER_DATA_SIZE),
      datagramsRefused: memory.view.getFloat64(scratch + serverAbout.datagramsRefused, true),
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
    checkChannel(channel, this.#channelCount);
    const send = (message: number): number => {
      if (!to) return exports.server_broadcast(address, channel, message, NOBODY, now);
      return core.withRoom(4 * to.length + 1, (slots) => {
        to.forEach((slot, i) => core.memory.view.setUint32(slots + 4 * i, slot, true));
        return exports.server_broadcast_to(address, channel, message, slots, to.length, now);
      });
    };
    writeMessage(
      core,
      this.#schema,
      { type, value, block },
      (number) => exports.server_create_message(address, number),
      send,
    );
  }

  /** Returns whether the latest broadcast was for the client in this slot, but found no room. */
  broadcastRefused(client: number): boolean {
    return this.core.exports.server_broadcast_refused(this.address, client) !== 0;
  }

  /**
   * Ends the connection of a client when everything that was sent to it before has arrived, but at the latest after
   * `flushSeconds`; 0 ends it at once.
   */
  disconnect(client: number, { code, text }: Farewell, flushSeconds: number, now: number): void {
    const { core, address } = this;
    const { exports } = core;
    const bytes = new TextEncoder().encode(text);
    core.withRoom(bytes.length + 1, (place) => {
      core.memory.bytes.set(bytes, place);
      core.memory.bytes[place + bytes.length] = 0;
      exports.server_flush_and_disconnect(address, client, code, place, flushSeconds, now);
    });
  }

  /**
   * Ends all connections because the server is about to stop. {@link transmit} then returns the datagrams that tell the
   * clients.
   */
  disconnectAll(): void {
    this.core.exports.server_disconnect_all(this.address);
  }

  stats(): ServerStats {
    const { exports, memory, scratch } = this.core;
    exports.server_stats(this.address);
    const stats = memory.struct(scratch, serverStatsFields);
    const dropped = errorCodes.map((code, i) => [code, exports.server_dropped(this.address, i)]);
    return { ...stats, dropped: Object.fromEntries(dropped.filter(([, count]) => count !== 0)) };
  }
}
