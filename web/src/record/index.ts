/**
 * A flight recorder: it keeps the packets of a connection of the last minute, to be read after a trouble. @module
 */
import { seconds } from '../clock.js';
import type { Core } from '../core.js';
import { MisuseError } from '../errors.js';
import type { RecordFunctions } from '../generated.js';
import { ownFile } from '../own_file.js';
import { serverWasm } from '../server_wasm.js';

/** Bytes of the longest recording, which is the default of the core. */
const SIZE = 65536;

/** Room for a `cw_record_config`, with which this code does nothing. */
const CONFIG_SIZE = 64;

/**
 * Returns the address of a core that can record, for the option `wasm` of `connect`: that of `causeway.wasm` cannot, so
 * that it is smaller.
 */
export const recordingCore = (): URL => ownFile('causeway-server.wasm', serverWasm);

/** An end of a connection with the members that only the package itself uses. */
interface End {
  readonly core: Core;
  readonly connection: number;
}

/** A connection that can be recorded: a `GameClient`, a `ConnectionHost` or a `Connection`. */
export type Recorded = object;

/**
 * Records a connection from now on, until `stop`. With its packets it keeps the changes of the state and the transport,
 * and the reason of the end. It has no contents of packets. `causeway-record` prints what {@link bytes} returns.
 */
export class FlightRecorder {
  readonly #end: End;
  readonly #exports: Core['exports'] & RecordFunctions;
  readonly #record: number;
  readonly #listening = new AbortController();

  /**
   * @throws {@link MisuseError} `CONFIG` when the connection cannot be recorded, because it is in a Worker or its core
   *   is not that of {@link recordingCore}
   */
  constructor(connection: Recorded) {
    const end = ((connection as { messages?: { end?: object } }).messages?.end ??
      connection) as End;
    const exports = end.core?.exports as Core['exports'] & RecordFunctions;
    if (typeof exports?.cw_record_create !== 'function')
      throw new MisuseError(
        'CONFIG',
        'this connection cannot be recorded: connect in this thread, with `wasm: recordingCore()`',
      );
    this.#end = end;
    this.#exports = exports;
    this.#record = end.core.withMemory(CONFIG_SIZE, (config) => {
      exports.cw_record_config_default(config);
      return end.core.made((out) => exports.cw_record_create(config, out));
    });
    exports.cw_connection_set_record(end.connection, this.#record);
    if (connection instanceof EventTarget) this.#listen(connection);
  }

  #listen(connection: EventTarget): void {
    const told = ['state', 'transport', 'message'] as const;
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
    const { core } = this.#end;
    const at = core.memoryFor(bytes.length);
    core.memory.bytes.set(bytes, at);
    this.#exports.cw_record_note(this.#record, at, seconds());
  }

  /** Returns the recording: what happened until now or, after the end, until then. At most 64 KB. */
  bytes(): Uint8Array<ArrayBuffer> {
    const { core } = this.#end;
    return core.withMemory(SIZE, (out) =>
      core.memory.copy(out, this.#exports.cw_record_write(this.#record, out, SIZE)),
    );
  }

  /** Ends recording and gives its memory back. The recorder cannot be used afterwards. */
  stop(): void {
    this.#listening.abort();
    try {
      this.#exports.cw_connection_set_record(this.#end.connection, 0);
    } catch {
      // The connection was destroyed, which has ended the recording too.
    }
    this.#exports.cw_record_destroy(this.#record);
  }
}
