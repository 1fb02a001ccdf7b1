import { Abort } from '../abort.js';
import type { GameClientState } from './client_events.js';

/** The options of an attempt to connect. */
interface AttemptOptions {
  readonly signal?: AbortSignal;
  readonly onstate?: (state: GameClientState) => void;
}

/**
 * Runs an attempt to connect and passes its states to `onstate`. The attempt also ends when the signal is aborted or
 * `onstate` throws.
 */
export async function attemptWith(
  { signal, onstate }: AttemptOptions,
  client: EventTarget & { readonly state: GameClientState },
  run: (signal: AbortSignal) => Promise<void>,
): Promise<void> {
  const attempt = new Abort(signal);
  const tell = (): void => {
    try {
      onstate?.(client.state);
    } catch (error) {
      attempt.abort(error);
    }
  };
  client.addEventListener('state', tell);
  try {
    await run(attempt.signal);
  } finally {
    client.removeEventListener('state', tell);
    attempt.release();
  }
}
