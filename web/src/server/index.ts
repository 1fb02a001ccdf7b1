export type { BrowserStats } from './browsers/sessions.js';
export type { HttpRequest, HttpResponse, HttpServer } from './browsers/http.js';
export type { PlayerOf, TokenHandler } from './browsers/tokens.js';
export { connectUdp } from './connect_udp.js';
export type { ConnectUdpOptions } from './connect_udp.js';
export { ServerCore, loadServer } from './core.js';
export type { ServerCoreOptions } from './core.js';
export { ClientDisconnectedEvent, ServerClient } from './client.js';
export type { KickOptions, ServerClientEvents } from './client.js';
export { ConnectEvent, RefusedTokensEvent, SocketErrorEvent, TickEvent } from './events.js';
export type { RefusedTokenCode, GameServerEvents } from './events.js';
export { GameServer } from './game_server.js';
export type {
  OwnTokenOptions,
  ServerAnswerer,
  GameServerStats,
  TokenPlayer,
} from './game_server.js';
export { listen } from './listen.js';
export type { ListenOptions } from './listen.js';
export { Server, SlotConnection } from './server.js';
export { SimulatedNetwork } from './simulated_network.js';
export { Simulator } from './simulator.js';
export type { SimulatorConfig, SimulatorPath, SimulatorStats } from './simulator.js';
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
export { connectTokenId } from '../secure/token_id.js';
export { generateConnectToken, generateInsecureToken, generateKey } from './token.js';
export type { ConnectTokenOptions } from './token.js';
