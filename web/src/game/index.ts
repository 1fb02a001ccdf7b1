export { GameCore, loadGame, type Quaternion } from './module.js';
export { ClockEcho, ClockSync, type ClockSyncEvent } from './clock_sync.js';
export { InputReceiver, InputSender } from './input.js';
export { Prediction, type PredictionOptions, type PredictionStats } from './prediction.js';
export { Interpolation } from './interpolation.js';
export { History } from './history.js';
export {
  playGame,
  type GameEvent,
  type GameVerdict,
  type PlayOptions,
  type PlayedGame,
  type Scene,
} from './play.js';
export { serveGame, type GamePlayer, type ServeOptions, type ServedGame } from './serve.js';
export { gameMessage, type Emit, type GameEntity, type GameRules } from './rules.js';
export type { Smooth } from './between.js';
export { Interest } from './interest.js';
export { SnapshotClient, SnapshotServer, type Entity, type SnapshotEvent } from './snapshot.js';
export type {
  ClockSyncConfig,
  ClockSyncStats,
  GameClientStats,
  GameFault,
  GameServerStats,
  HistoryConfig,
  InputConfig,
  InputReceiverStats,
  InputReport,
  InterestConfig,
  InterpolationConfig,
  InterpolationStats,
  Priority,
  SnapshotClientStats,
  SnapshotConfig,
  SnapshotServerStats,
  View,
} from './generated.js';
