import type { Core } from '../core.js';
import {
  congestionConfigStruct,
  connectionConfigAt,
  connectionConfigStruct,
  endpointConfigStruct,
} from '../generated.js';
import { MessageChannels, writeChannels, type Channel } from './channels.js';
import { CoreSchema } from './codec.js';
import type { End } from './message_end.js';
import type { Schema } from './schema.js';
import type { ConnectionConfig } from './types.js';

/** The config of a connection whose channels are known. */
type ChannelledConfig = ConnectionConfig & { readonly channels: readonly Channel[] };

/** Writes the config of a connection into the module for as long as `use` takes. */
export const withConfig = <Result>(
  core: Core,
  schema: CoreSchema,
  config: ChannelledConfig,
  use: (config: number) => Result,
): Result =>
  core.withMemory(connectionConfigStruct.size, (at) => {
    const { exports, memory } = core;
    const { channels, congestion = {}, endpoint = {} } = config;
    exports.cw_connection_config_default(at, schema.pointer);
    memory.setConfig(at, connectionConfigStruct, { ...config, channelCount: channels.length });
    memory.setConfig(at + connectionConfigAt.endpoint, endpointConfigStruct, endpoint);
    memory.setConfig(at + connectionConfigAt.congestion, congestionConfigStruct, congestion);
    writeChannels(core, at + connectionConfigAt.channels, channels);
    return use(at);
  });

/**
 * Creates an object in the module whose connections use a schema. They use it until their end, so both are destroyed
 * together.
 * @param create makes the object, and returns its address
 */
export function createEnd(
  core: Core,
  schema: Schema,
  { channels }: ChannelledConfig,
  create: (schema: CoreSchema) => number,
  destroy: (address: number) => void,
): End {
  const types = new CoreSchema(core, schema);
  try {
    const destroyBoth = (address: number): void => {
      destroy(address);
      types.destroy();
    };
    const numbers = new MessageChannels(schema, channels);
    return { address: create(types), destroy: destroyBoth, schema: types, channels: numbers };
  } catch (error) {
    types.destroy();
    throw error;
  }
}
