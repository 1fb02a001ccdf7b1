import { ConnectError } from '../errors.js';
import { attemptWith } from '../hosts/attempt.js';
import { checkReconnect, type ConnectOptions } from '../hosts/connect.js';
import { tickInterval } from '../hosts/carrier.js';
import type { Schema } from '../messages/schema.js';
import { checkOptions } from '../options.js';
import { relayList, type RelayAddresses } from '../transports/session.js';
import type { WasmSource } from '../wasm_source.js';
import { WorkerClient, type WorkerLike } from './worker_client.js';

/** Options of {@link connectInWorker}: those of `connect` that a Worker can be given. */
export interface WorkerOptions<Of extends Schema> extends Omit<
  ConnectOptions<Of>,
  'core' | 'wasm' | 'through' | 'WebSocket' | 'RTCPeerConnection'
> {
  /** The source from which the Worker loads causeway.wasm. Default: beside the package's code. */
  readonly wasm?: Exclude<WasmSource, Response | PromiseLike<Response>>;
  /**
   * This function makes a Worker that runs the package's `worker/thread.js`. Default: from the file beside the
   * package's code, which bundlers that know `new Worker(new URL(..., import.meta.url))` include.
   */
  readonly worker?: () => WorkerLike;
}

const openWorker = (): WorkerLike =>
  new Worker(new URL('./thread.js', import.meta.url), { type: 'module' });

/**
 * Connects with a game server as `connect` does, from a Worker: a page that is busy or hidden does not hold
 * up what is sent.
 * @throws what `connect` throws; {@link ConnectError} when there can be no Worker
 */
export async function connectInWorker<const Of extends Schema>(
  relays: RelayAddresses,
  options: WorkerOptions<Of>,
): Promise<WorkerClient<Of>> {
  checkOptions('connectInWorker', options, ['token', 'schema']);
  const { token, signal: _signal, onstate: _onstate, worker = openWorker, wasm, ...rest } = options;
  checkReconnect(options);
  tickInterval(rest.ticksPerSecond);
  const client = new WorkerClient<Of>({
    relays: relayList(relays).map(({ href }) => href),
    options: {
      ...rest,
      token: typeof token === 'function' ? undefined : token,
      // An address is relative to the page; the Worker would resolve it against its own.
      wasm:
        typeof wasm === 'string' || wasm instanceof URL
          ? new URL(wasm, globalThis.location?.href).href
          : wasm,
    },
    token,
    open: () => {
      try {
        return worker();
      } catch (cause) {
        throw new ConnectError('LOAD', 'load', `there can be no Worker here: ${String(cause)}`, {
          cause,
        });
      }
    },
  });
  await attemptWith(options, client, (attempt) => client.join(attempt));
  return client;
}
