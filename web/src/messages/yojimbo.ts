import type { Core } from '../core.js';
import { channelNumberFields, connectionNumberFields, endpointNumberFields } from '../generated.js';
import { channelOf } from './channels.js';
import type { ConnectionConfig } from './types.js';

/**
 * yojimbo's defaults, for servers made with it: `connect(url, { token, schema, ...yojimboDefaults(core) })`.
 * There are two reliable channels, 0 and 1, both with blocks; longer queues; and room for as many packets in
 * fragments as yojimbo sends at once. They are those of `cw_connection_config_yojimbo`, from which they are taken.
 */
export const yojimboDefaults = (
  core: Core,
): ConnectionConfig & Required<Pick<ConnectionConfig, 'channels' | 'endpoint'>> => {
  const { exports, memory, scratch } = core;
  const channelCount = exports.connection_config_yojimbo();
  const config = memory.config(scratch, connectionNumberFields);
  const endpoint = memory.config(scratch, endpointNumberFields);
  const channels = Array.from({ length: channelCount }, (_, channel) => {
    exports.channel_config_yojimbo(channel);
    return channelOf(memory.config(scratch, channelNumberFields));
  });
  return { ...config, endpoint, channels };
};
