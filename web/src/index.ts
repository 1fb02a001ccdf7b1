export { Core, CoreObject } from './core.js';
export { Endpoint } from './endpoint.js';
export type { EndpointConfig, EndpointEvent, EndpointStats, ReceiveResult } from './endpoint.js';
export {
  CausewayError,
  ClosedError,
  ConnectError,
  CoreError,
  DestroyedError,
  HandshakeError,
  LoadError,
  RefusedError,
  TimedOutError,
  TransportError,
} from './errors.js';
export type {
  CoreErrorCode,
  HandshakeCode,
  HandshakeStage,
  RelayCode,
  TransportStage,
} from './errors.js';
export { loadCore } from './loader.js';
export type { CoreOptions } from './loader.js';
export type { LoadOptions, WasmSource } from './wasm_source.js';
export type {
  RelayTransportKind,
  Transport,
  TransportClose,
  TransportKind,
  TransportState,
  TransportStats,
} from './transports/transport.js';
export {
  reliable,
  reliableUnordered,
  unreliable,
  unreliableSequenced,
} from './messages/channels.js';
export type { Channel, ChannelConfig } from './messages/channels.js';
export { Connection, fingerprint } from './messages/connection.js';
export type {
  BinaryStats,
  ChannelStats,
  CongestionConfig,
  ConnectionConfig,
  ConnectionEvent,
  CongestionLimit,
  ConnectionStats,
  Fate,
  Message,
  Question,
  Unanswered,
} from './messages/types.js';
export {
  align,
  array,
  arrayFrom,
  bits,
  bool,
  bytes,
  bytesFrom,
  bytesOf,
  compressedFloat,
  constant,
  f32,
  f64,
  fixedArray,
  fixedBytes,
  int,
  int64,
  optional,
  relative,
  repeat,
  sequenceRelative,
  string,
  struct,
  uint,
  uint64,
  when,
} from './messages/fields.js';
export type {
  Field,
  Fields,
  Kind,
  OptionalField,
  Values,
  View,
  WireField,
} from './messages/fields.js';
export { enumeration, fixed, flags, int128, uint128, wideString } from './messages/views.js';
export { yojimboDefaults } from './messages/yojimbo.js';
export { request } from './messages/request.js';
export type {
  AnswerValue,
  Answerer,
  QuestionValue,
  RequestName,
  RequestOptions,
  RequestType,
} from './messages/request.js';
export { message, schema } from './messages/schema.js';
export type {
  MessageBlock,
  MessageName,
  MessageType,
  MessageValue,
  Schema,
} from './messages/schema.js';
export { Client } from './secure/client.js';
export type { ClientStats } from './secure/client.js';
export type { ClientState, Farewell } from './secure/core_client.js';
export { DisconnectedEvent, StateEvent, TransportEvent } from './hosts/client_events.js';
export type { ClientHostEvents, ClientHostState, Disconnect } from './hosts/client_events.js';
export { ClientHost } from './hosts/client_host.js';
export type { ClientHostStats } from './hosts/client_host.js';
export { connect } from './hosts/connect.js';
export type { DisconnectReason } from './hosts/ending.js';
export type { ConnectOptions } from './hosts/connect.js';
export { ClosedEvent, ConnectionHost } from './hosts/connection_host.js';
export type { ConnectionHostConfig, ConnectionHostEvents } from './hosts/connection_host.js';
export { Host, ReceivedEvent } from './hosts/host.js';
export type { HostStats } from './hosts/host.js';
export { SecureTransport, openSecureTransport } from './hosts/secure_transport.js';
export type { SecureTransportOptions } from './hosts/secure_transport.js';
export type { ConnectToken, TokenOption } from './hosts/token.js';
export { SessionTransport } from './transports/links.js';
export { openTransport } from './transports/race.js';
export type { TransportOptions } from './transports/race.js';
export { sessionKey } from './transports/session.js';
export type { SessionOptions } from './transports/session.js';
export { WebRtcTransport } from './transports/webrtc.js';
export type { DataChannelLike, PeerConnectionLike, WebRtcOptions } from './transports/webrtc.js';
export { WEBSOCKET_PROTOCOL, WebSocketTransport } from './transports/websocket.js';
export type { WebSocketLike, WebSocketOptions } from './transports/websocket.js';
