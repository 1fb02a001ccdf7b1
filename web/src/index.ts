export { Core, CoreObject } from './core.js';
export { Endpoint } from './endpoint.js';
export type { EndpointConfig, EndpointEvent, EndpointStats, ReceiveResult } from './endpoint.js';
export {
  CausewayError,
  ConnectError,
  CoreError,
  DestroyedError,
  LoadError,
  TransportError,
} from './errors.js';
export type { CoreErrorCode, TransportStage } from './errors.js';
export { loadCore } from './loader.js';
export type { LoadOptions, WasmSource } from './loader.js';
export type {
  Transport,
  TransportClose,
  TransportKind,
  TransportState,
  TransportStats,
} from './transports/transport.js';
export { generateConnectToken, generateKey } from './secure/token.js';
export type { ConnectTokenOptions } from './secure/token.js';
export { Simulator } from './simulator.js';
export type { SimulatorConfig, SimulatorPath, SimulatorStats } from './simulator.js';
export { openTransport } from './transports/race.js';
export type { TransportOptions } from './transports/race.js';
export { WebRtcTransport } from './transports/webrtc.js';
export type { DataChannelLike, PeerConnectionLike, WebRtcOptions } from './transports/webrtc.js';
export { WEBSOCKET_PROTOCOL, WebSocketTransport } from './transports/websocket.js';
export type { WebSocketLike, WebSocketOptions } from './transports/websocket.js';
