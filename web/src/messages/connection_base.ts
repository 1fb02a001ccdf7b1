import type { Core } from '../core.js';
import { connectionNumberFields, createdFields, endpointNumberFields } from '../generated.js';
import { numbersOf } from '../memory.js';
import { channelNumbers, defaultChannels } from './channels.js';
import { CoreSchema } from './codec.js';
import { MessageEnd } from './message_end.js';
import type { Schema } from './schema.js';
import type { ConnectionConfig } from './types.js';

/** Calls a function of the module that takes the config of a connection. */
export const withConfig = <Result>(
  core: Core,
  schema: CoreSchema,
  config: ConnectionConfig,
  use: (schema: number, numbers: number, channelCount: number) => Result,
): Result => {
  const { channels = defaultChannels } = config;
  const numbers = [
    ...numbersOf(endpointNumberFields, config.endpoint ?? {}),
    ...numbersOf(connectionNumberFields, config),
    ...channelNumbers(channels),
  ];
  return core.withNumbers(numbers, (address) => use(schema.pointer, address, channels.length));
};

/** A function of the module that makes an object with a connection; it leaves the address in the scratch area. */
type Create = (schema: number, numbers: number, channelCount: number) => number;

/** The common base of `Connection` and `Client`: messages and datagrams, without I/O. */
export abstract class ConnectionBase<Of extends Schema> extends MessageEnd<Of> {
  protected constructor(
    core: Core,
    schema: Of,
    config: ConnectionConfig,
    create: Create,
    destroy: (address: number) => void,
  ) {
    const types = new CoreSchema(core, schema);
    try {
      core.check(withConfig(core, types, config, create));
    } catch (error) {
      types.destroy();
      throw error;
    }
    const { object } = core.memory.struct(core.scratch, createdFields);
    // The connection uses the schema until its end, so both are destroyed together.
    const destroyBoth = (address: number): void => {
      destroy(address);
      types.destroy();
    };
    const channelCount = (config.channels ?? defaultChannels).length;
    super(core, { address: object, destroy: destroyBoth, schema: types, channelCount });
  }

  /** Longest datagram that {@link transmit} gives, in bytes. */
  abstract readonly maxDatagramSize: number;

  /** Takes a datagram that arrived; returns false when it was dropped, which is counted. */
  abstract receive(datagram: Uint8Array, now: number): boolean;

  /** Lets time pass and opens a round of datagrams. Call it once per tick, then {@link transmit}. */
  abstract update(now: number): void;

  /** Returns the next datagram of this round, `undefined` when it is over. */
  abstract transmit(now: number): Uint8Array<ArrayBuffer> | undefined;
}
