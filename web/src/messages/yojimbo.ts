import { yojimbo } from '../generated.js';
import { reliable } from './channels.js';
import type { ConnectionConfig } from './types.js';

/**
 * Returns yojimbo's defaults, for servers made with it: `connect(url, { token, schema, ...yojimboDefaults() })`. There
 * are two reliable channels, 0 and 1, both with blocks; longer queues; and room for as many packets in fragments as
 * yojimbo sends at once. The numbers are those of `cw_connection_config_yojimbo`.
 */
export const yojimboDefaults = (): ConnectionConfig &
  Required<Pick<ConnectionConfig, 'channels' | 'endpoint'>> => {
  const { queue } = yojimbo;
  const channel = reliable({
    blocks: true,
    maxMessageSize: 0,
    receiveQueueSize: queue,
    sendQueueSize: queue,
  });
  return {
    channels: Array.from({ length: yojimbo.channels }, () => channel),
    endpoint: { fragmentAbove: yojimbo.fragmentAbove, maxReassemblies: yojimbo.reassemblies },
    maxMessages: yojimbo.messages,
  };
};
