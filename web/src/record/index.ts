/**
 * A flight recorder: it keeps the packets of a connection of the last minute, to be read after a trouble. @module
 */
import { seconds } from '../clock.js';
import { Core } from '../core.js';
import { MisuseError } from '../errors.js';
import type { RecordFunctions } from '../generated.js';
import type { Disconnect } from '../hosts/client_events.js';
import { connect as connectUnrecorded, type ConnectOptions } from '../hosts/connect.js';
import type { DisconnectReason } from '../hosts/ending.js';
import { GameClient, type GameClientStats } from '../hosts/game_client.js';
import type { Schema } from '../messages/schema.js';
import { WasmObject } from '../module.js';
import { ownFile } from '../own_file.js';
import { serverWasm } from '../server_wasm.js';
import type { RelayAddresses } from '../transports/session.js';
import { loader } from '../wasm_source.js';

/** Bytes of the longest recording, which is the default of the core. */
const SIZE = 65536;

/** Room for a `cw_record_config`, with which this code does nothing. */
const CONFIG_SIZE = 64;

/**
 * Returns the address of a core that can record, for the option `wasm` of `connect`: that of `causeway.wasm` cannot, so
 * that it is smaller.
 */
export const recordingCore = (): URL => ownFile('causeway-server.wasm', serverWasm);

const core = loader('causeway-server.wasm', serverWasm, (module) => Core.instantiate(module));

/** A core that can record. */
type RecordingCore = Core & { readonly exports: RecordFunctions };

/** An end of a connection with the members that only the package itself uses. */
interface End {
  readonly core: RecordingCore;
  readonly connection: number;
}

/** A connection that can be recorded: a `GameClient`, a `ServerClient`, a `ConnectionHost` or a `Connection`. */
export type Recorded = object;

/**
 * Records a connection from now on, until `stop`. With its packets it keeps the changes of the state and the transport,
 * and the reason of the end. It has no contents of packets. `causeway-record` prints what {@link bytes} returns.
 */
export class FlightRecorder extends WasmObject<RecordingCore> {
  readonly #listening = new AbortController();

  /**
   * @throws {@link MisuseError} `CONFIG` when the connection cannot be recorded, because it is in a Worker or its core
   *   is not that of {@link recordingCore}
   */
  constructor(connection: Recorded) {
    const end = ((connection as { messages?: { end?: object } }).messages?.end ??
      connection) as End;
    const exports = end.core?.exports;
    if (typeof exports?.cw_record_create !== 'function')
      throw new MisuseError(
        'CONFIG',
        'this connection cannot be recorded: connect in this thread, with `wasm: recordingCore()`',
      );
    const record = end.core.withMemory(CONFIG_SIZE, (config) => {
      exports.cw_record_config_default(config);
      return end.core.made((out) => exports.cw_record_create(config, out));
    });
    super(end.core, record, exports.cw_record_destroy);
    exports.cw_connection_set_record(end.connection, record);
    if (connection instanceof EventTarget) this.#listen(connection);
  }

  #listen(connection: EventTarget): void {
    const told = ['state', 'transport', 'message', 'reason'] as const;
    for (const type of ['state', 'transport', 'disconnect'])
      connection.addEventListener(
        type,
        (event) => {
          const parts = event as Event & { readonly [Part in (typeof told)[number]]?: string };
          this.note(`${type}: ${told.map((part) => parts[part]).find(Boolean) ?? ''}`);
        },
        { signal: this.#listening.signal },
      );
  }

  /** Adds a line of yours, of which the first 127 bytes are kept. */
  note(text: string): void {
    const bytes = new TextEncoder().encode(`${text}\0`);
    const { core, address } = this;
    const at = core.memoryFor(bytes.length);
    core.memory.bytes.set(bytes, at);
    core.exports.cw_record_note(address, at, seconds());
  }

  /** Returns the recording: what happened until now or, after the end, until then. At most 64 KB. */
  bytes(): Uint8Array<ArrayBuffer> {
    const { core, address } = this;
    return core.withMemory(SIZE, (out) =>
      core.memory.copy(out, core.exports.cw_record_write(address, out, SIZE)),
    );
  }

  /** Ends recording and gives its memory back. The recorder cannot be used afterwards. */
  stop(): void {
    this.#listening.abort();
    this.destroy();
  }
}

/** The end of a connection that was recorded. */
export interface RecordedEnd extends Disconnect {
  /** The recording, when neither side meant to end the connection. */
  readonly record?: Uint8Array<ArrayBuffer>;
}

/** A client that is recorded. */
export interface RecordedClient<Of extends Schema> extends GameClient<Of> {
  /** Returns the recording: the last minute until now or, after the end, until then. At most 64 KB. */
  record(): Uint8Array<ArrayBuffer>;
  /**
   * Looks at the statistics once a second until the connection ends, and gives the recording to `take` whenever a
   * trouble begins: `isTrouble` returns true, and returned false a second before.
   */
  recordWhen(
    isTrouble: (stats: GameClientStats) => boolean,
    take: (record: Uint8Array<ArrayBuffer>) => void,
  ): void;
  readonly closed: Promise<RecordedEnd>;
}

/** The milliseconds between two looks at the statistics. */
const LOOK_MS = 1000;

const ABNORMAL: readonly DisconnectReason[] = ['timeout', 'transport', 'server'];

/**
 * Connects as `connect` of `causeway-net` does, and records the connection, in a core of its own.
 * @throws what that function throws
 */
export async function connect<const Of extends Schema>(
  relays: RelayAddresses,
  options: ConnectOptions<Of>,
): Promise<RecordedClient<Of>> {
  const client = await connectUnrecorded(relays, {
    ...options,
    core: options.core ?? (await core.first(options.wasm)),
  });
  const recorder = new FlightRecorder(client);
  const ended = async (closed: Promise<Disconnect>): Promise<RecordedEnd> => {
    const end = await closed;
    return ABNORMAL.includes(end.reason) ? { ...end, record: recorder.bytes() } : end;
  };
  const recordWhen: RecordedClient<Of>['recordWhen'] = (isTrouble, take) => {
    let wasTrouble = false;
    const look = (): void => {
      const isNow = isTrouble(client.stats());
      if (isNow && !wasTrouble) take(recorder.bytes());
      wasTrouble = isNow;
    };
    const timer = setInterval(look, LOOK_MS);
    void client.closed.then(() => clearInterval(timer));
  };
  // The promise is another one after `reconnect`.
  const { get } = Object.getOwnPropertyDescriptor(GameClient.prototype, 'closed')!;
  return Object.defineProperties(client, {
    record: { value: () => recorder.bytes() },
    recordWhen: { value: recordWhen },
    closed: { get: () => ended(get!.call(client)) },
  }) as RecordedClient<Of>;
}
