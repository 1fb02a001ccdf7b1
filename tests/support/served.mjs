// A relay, a game server of the test behind it, and a player in front of it.
import { startRelay } from './relay.mjs';
import { startUdpServer } from './udp_server.mjs';
import { connect } from './websocket.mjs';

/**
 * Starts a game server, which answers as in startUdpServer, and a relay for it with these options of startRelay. The text
 * `suffix` follows the address of the server in --upstream.
 */
export async function startServed(t, { answer, suffix = '', ...options } = {}) {
  const server = await startUdpServer(t, { answer });
  const relay = await startRelay(t, { upstream: server.upstream + suffix, ...options });
  return { server, relay };
}

/** Starts them with a player: a WebSocket to the relay. */
export async function startPlayed(t, options) {
  const { server, relay } = await startServed(t, options);
  return { server, relay, client: await connect(t, relay) };
}
