import type { Core } from '../core.js';
import { connectionConfigAt, connectionConfigStruct, endpointConfigStruct } from '../generated.js';
import { defaultChannels, writeChannels } from './channels.js';
import { CoreSchema } from './codec.js';
import { MessageEnd } from './message_end.js';
import type { Schema } from './schema.js';
import type { ConnectionConfig } from './types.js';

/** Writes the config of a connection into the module for as long as `use` takes. */
export const withConfig = <Result>(
  core: Core,
  schema: CoreSchema,
  config: ConnectionConfig,
  use: (config: number) => Result,
): Result =>
  core.withRoom(connectionConfigStruct.size, (at) => {
    const { exports, memory } = core;
    const { channels = defaultChannels, endpoint = {} } = config;
    exports.cw_connection_config_default(at, schema.pointer);
    memory.setConfig(at, connectionConfigStruct, { ...config, channelCount: channels.length });
    memory.setConfig(at + connectionConfigAt.endpoint, endpointConfigStruct, endpoint);
    writeChannels(core, at + connectionConfigAt.channels, channels);
    return use(at);
  });

/** A function that makes an object with a connection of this config. */
type Create = (config: number) => number;

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
    let object: number;
    try {
      object = withConfig(core, types, config, create);
    } catch (error) {
      types.destroy();
      throw error;
    }
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
