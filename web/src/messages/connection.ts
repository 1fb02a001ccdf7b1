import type { Core } from '../core.js';
import { LONGER_THAN_ANY_HEADER, type EndpointConfig } from '../endpoint.js';
import { connectionConfigAt, endpointConfigAt } from '../generated.js';
import { Outgoing } from '../memory.js';
import { withChannels, type Channel } from './channels.js';
import { CoreSchema } from './codec.js';
import { createEnd, withConfig } from './connection_config.js';
import { MessageEnd, type DatagramEnd } from './message_end.js';
import type { Schema } from './schema.js';
import type { ConnectionConfig } from './types.js';

/**
 * Returns a number that is the same for two ends when they agree on message types, channels and the options of their
 * endpoints that concern both, and practically never otherwise. A connect token carries it.
 */
export function fingerprint(
  core: Core,
  schema: Schema,
  channels?: readonly Channel[],
  endpoint?: EndpointConfig,
): bigint {
  const types = new CoreSchema(core, schema);
  try {
    const given = { ...(channels && { channels }), ...(endpoint && { endpoint }) };
    const config = withChannels(schema, given);
    const { exports } = core;
    const number = withConfig(core, types, config, (at) => exports.cw_connection_fingerprint(at));
    return BigInt.asUintN(64, number);
  } finally {
    types.destroy();
  }
}

/**
 * One end of a connection, like `cw_connection` in C: it has no I/O and no clock. Bytes come from the caller, and so
 * does the time, in seconds that only go forward. `ConnectionHost` puts a connection over a transport.
 */
export class Connection<Of extends Schema = Schema>
  extends MessageEnd<Of>
  implements DatagramEnd<Of>
{
  readonly maxDatagramSize: number;
  readonly #incoming: number;
  readonly #incomingSize: number;
  readonly #outgoing: Outgoing;

  /** @throws {@link MisuseError} with a code that says which part of schema or config cannot work. */
  constructor(core: Core, schema: Of, options: ConnectionConfig = {}) {
    const { exports } = core;
    const config = withChannels(schema, options);
    let maxPacketSize = 0;
    const create = (types: CoreSchema): number =>
      withConfig(core, types, config, (at) => {
        const endpoint = at + connectionConfigAt.endpoint;
        maxPacketSize = core.memory.u32(endpoint + endpointConfigAt.maxPacketSize);
        return core.made((out) => exports.cw_connection_create(at, out));
      });
    super(core, createEnd(core, schema, config, create, exports.cw_connection_destroy));
    this.maxDatagramSize = exports.cw_connection_max_datagram_size(this.address);
    this.#incomingSize = maxPacketSize + LONGER_THAN_ANY_HEADER;
    this.#incoming = this.buffer(this.#incomingSize);
    this.#outgoing = new Outgoing(core.memory, this.buffer(this.maxDatagramSize));
  }

  protected override get connection(): number {
    return this.address;
  }

  /** Takes a datagram that arrived; returns false when it was dropped, which {@link stats} counts. */
  receive(datagram: Uint8Array, now: number): boolean {
    const { core, address } = this;
    const size = core.memory.put(datagram, this.#incoming, this.#incomingSize);
    return core.exports.cw_connection_receive(address, this.#incoming, size, now) === 0;
  }

  /** Lets time pass and opens a round of datagrams. Call it once per tick, then {@link transmit}. */
  update(now: number): void {
    this.core.exports.cw_connection_update(this.address, now);
  }

  /** Returns the next datagram of this round, `undefined` when it is over. */
  transmit(now: number): Uint8Array<ArrayBuffer> | undefined {
    return this.transmitView(now)?.slice();
  }

  /** @internal */
  transmitView(now: number): Uint8Array<ArrayBuffer> | undefined {
    const { core, maxDatagramSize } = this;
    const out = this.#outgoing;
    const size = core.exports.cw_connection_transmit(
      this.address,
      out.address,
      maxDatagramSize,
      now,
    );
    return size > 0 ? out.view(size) : undefined;
  }
}
