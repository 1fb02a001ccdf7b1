export { connectUdp } from './connect_udp.js';
export type { ConnectUdpOptions } from './connect_udp.js';
export { ServerCore, loadServer } from './core.js';
export { ClientDisconnectedEvent, ServerClient } from './client.js';
export type { KickOptions, ServerClientEvents } from './client.js';
export { ConnectEvent, SocketErrorEvent, TickEvent } from './events.js';
export type { ServerHostEvents } from './events.js';
export { ServerHost } from './host.js';
export type { OwnTokenOptions, ServerHostStats } from './host.js';
export { listen } from './listen.js';
export type { ListenOptions } from './listen.js';
export { Server, SlotConnection } from './server.js';
export type { SocketStats } from './socket.js';
export { UdpTransport } from './udp_transport.js';
export type { UdpOptions } from './udp_transport.js';
export type {
  BroadcastOptions,
  OutgoingDatagram,
  ServerClientInfo,
  ServerConfig,
  ServerDisconnectReason,
  ServerEvent,
  ServerStats,
} from './types.js';
export { generateConnectToken, generateInsecureToken, generateKey } from '../secure/token.js';
export type { ConnectTokenOptions } from '../secure/token.js';
