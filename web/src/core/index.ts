/**
 * The parts that `connect` is made of, and the fields of other servers' formats, with all that `causeway-net` has:
 * a program with parts of its own needs only this. @module
 */
export * from '../index.js';
export { Core, CoreObject } from '../core.js';
export { Endpoint } from '../endpoint.js';
export type { EndpointEvent, ReceiveResult } from '../endpoint.js';
export { loadCore } from '../loader.js';
export type { LoadOptions } from '../wasm_source.js';
export type { Transport, TransportClose } from '../transports/transport.js';
export {
  reliable,
  reliableUnordered,
  unreliable,
  unreliableSequenced,
} from '../messages/channels.js';
export { Connection, fingerprint } from '../messages/connection.js';
export type { ConnectionEvent } from '../messages/types.js';
export {
  align,
  arrayFrom,
  bytesFrom,
  bytesOf,
  constant,
  fixedArray,
  fixedBytes,
  relative,
  repeat,
  sequenceRelative,
  when,
} from '../messages/fields.js';
export { int128, uint128, wideString } from '../messages/views.js';
export { yojimboDefaults } from '../messages/yojimbo.js';
export { Client } from '../secure/client.js';
export type { ClientState } from '../secure/core_client.js';
export { DisconnectedEvent, StateEvent, TransportEvent } from '../hosts/client_events.js';
export { ClosedEvent, ConnectionHost } from '../hosts/connection_host.js';
export type { ConnectionHostConfig, ConnectionHostEvents } from '../hosts/connection_host.js';
export { Host, ReceivedEvent } from '../hosts/host.js';
export { SecureTransport, openSecureTransport } from '../hosts/secure_transport.js';
export type { SecureTransportOptions } from '../hosts/secure_transport.js';
export { SessionTransport } from '../transports/links.js';
export { openTransport } from '../transports/race.js';
export { sessionKey } from '../transports/session.js';
export type { SessionOptions } from '../transports/session.js';
export { WebRtcTransport } from '../transports/webrtc.js';
export type { DataChannelLike, PeerConnectionLike, WebRtcOptions } from '../transports/webrtc.js';
export { WEBSOCKET_PROTOCOL, WebSocketTransport } from '../transports/websocket.js';
export type { WebSocketLike, WebSocketOptions } from '../transports/websocket.js';
