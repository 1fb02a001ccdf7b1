export { CausewayError, ConnectError, ConnectionError, MisuseError, refuse } from './errors.js';
export type {
  ConnectErrorCode,
  ConnectStage,
  ConnectionErrorCode,
  CoreErrorCode,
  HandshakeCode,
  HandshakeStage,
  PageCode,
  RelayCode,
  TransportStage,
} from './errors.js';
export type { EndpointConfig, EndpointStats } from './endpoint.js';
export type { CoreOptions } from './loader.js';
export type { WasmSource } from './wasm_source.js';
export type {
  RelayTransportKind,
  TransportKind,
  TransportState,
  TransportStats,
} from './transports/transport.js';
export type { Channel, ChannelConfig } from './messages/channels.js';
export type {
  BinaryStats,
  ChannelStats,
  CongestionConfig,
  ConnectionConfig,
  CongestionLimit,
  ConnectionStats,
  Fate,
  Message,
  Question,
  Unanswered,
} from './messages/types.js';
export {
  array,
  bits,
  bool,
  bytes,
  compressedFloat,
  f32,
  f64,
  int,
  int64,
  optional,
  string,
  struct,
  uint,
  uint64,
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
export { enumeration, fixed, flags } from './messages/views.js';
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
  MessageOptions,
  MessageType,
  MessageValue,
  Schema,
} from './messages/schema.js';
export type { ClientStats } from './secure/client.js';
export type { Farewell } from './secure/core_client.js';
export type {
  Disconnect,
  DisconnectedEvent,
  GameClientEvents,
  GameClientState,
  StateEvent,
  TransportEvent,
} from './hosts/client_events.js';
export { connect } from './hosts/connect.js';
export type { ConnectOptions } from './hosts/connect.js';
export type { DisconnectReason } from './hosts/ending.js';
export { GameClient } from './hosts/game_client.js';
export type { GameClientStats } from './hosts/game_client.js';
export type { HostStats, ReceivedEvent } from './hosts/host.js';
export { connectTokenId } from './secure/token_id.js';
export type { ConnectToken, TokenAnswer, TokenOption, TokenWithRelays } from './hosts/token.js';
export type { TransportOptions } from './transports/race.js';
export type { RelayAddresses } from './transports/session.js';
