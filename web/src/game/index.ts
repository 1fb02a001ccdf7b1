export { GameCore, loadGame, type Quaternion } from './module.js';
export { ClockEcho, ClockSync, type ClockSyncEvent } from './clock_sync.js';
export { InputReceiver, InputSender } from './input.js';
export { Prediction, type PredictionOptions, type PredictionStats } from './prediction.js';
export { Interpolation } from './interpolation.js';
export { History } from './history.js';
export { SnapshotClient, SnapshotServer, type Entity, type SnapshotEvent } from './snapshot.js';
export type {
  ClockSyncConfig,
  ClockSyncStats,
  HistoryConfig,
  InputConfig,
  InputReceiverStats,
  InputReport,
  InterpolationConfig,
  InterpolationStats,
  SnapshotClientStats,
  SnapshotConfig,
  SnapshotServerStats,
  View,
} from './generated.js';
