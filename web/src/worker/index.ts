export { connectInWorker } from './connect.js';
export type { WorkerOptions } from './connect.js';
export { WorkerClient } from './worker_client.js';
export type { WorkerLike } from './worker_client.js';
export type { Port } from './line.js';
