import { MisuseError, coreError, type ConnectionError, type CoreErrorCode } from '../errors.js';
import { WasmModule, WasmObject } from '../module.js';
import type { Struct } from '../memory.js';
import { loader, type LoadOptions } from '../wasm_source.js';
import { protocolErrorCodes, type ProtocolExports } from './generated.js';

/** The protocols of the module, as the functions of their headers begin. */
export type ProtocolName = 'rudp' | 'notify' | 'bunch';

/** The fate of a datagram that arrived. One that is not `ok` is of no use, and has changed nothing. */
export type ReceivedDatagram = 'ok' | 'malformed' | 'stale' | 'duplicate';

const codes: readonly string[] = protocolErrorCodes;

/**
 * The protocols beside the core's own: one instance of causeway-protocols.wasm. Make one with {@link loadProtocols};
 * one is enough for any number of ends.
 */
export class ProtocolCore extends WasmModule<ProtocolExports> {
  /** @internal */
  static async instantiate(module: WebAssembly.Module): Promise<ProtocolCore> {
    return new ProtocolCore(await WebAssembly.instantiate(module, {}));
  }

  private constructor(instance: WebAssembly.Instance) {
    super(instance, 'causeway-protocols.wasm');
  }

  /** These protocols have errors of their own. @internal */
  override error(code: number | CoreErrorCode): MisuseError | ConnectionError {
    const number = typeof code === 'number' ? code : codes.indexOf(code);
    const sentence = this.memory.text(this.exports.cw_protocol_error_string(number));
    return coreError(codes[number] as CoreErrorCode, sentence);
  }

  /** Creates one end from a config, and returns its address. @internal */
  end(name: ProtocolName, config: number): number {
    const code = this.exports[`cw_${name}_create`](config, this.scratch);
    if (codes[code] !== 'CONFIG') {
      this.check(code);
      return this.memory.u32(this.scratch);
    }
    const field = this.memory
      .text(this.exports[`cw_${name}_config_error_field`](config))
      .replace(/_(\w)/g, (_, letter: string) => letter.toUpperCase());
    throw new MisuseError('CONFIG', `${field} of the config is out of range`, field);
  }
}

/** An event as its struct has it. */
interface RawEvent {
  readonly type: number;
  readonly data?: number;
  readonly payload?: number;
  readonly size: number;
}

/** One end of a protocol. It has no clock and no socket: you give it what arrives, and send what it transmits. */
export abstract class ProtocolEnd<Event> extends WasmObject<ProtocolCore> {
  readonly #name: ProtocolName;
  readonly #capacity: number;

  /** @internal */
  protected constructor(core: ProtocolCore, name: ProtocolName, config: number, capacity: number) {
    super(core, core.end(name, config), core.exports[`cw_${name}_destroy`]);
    this.#name = name;
    this.#capacity = capacity;
  }

  /** The struct of an event, and the names of its types. @internal */
  protected abstract get events(): {
    readonly struct: Struct;
    readonly types: Readonly<Record<number, string>>;
  };

  /** Goes back to how it was created. The other end must do the same. */
  reset(): void {
    this.core.exports[`cw_${this.#name}_reset`](this.address);
  }

  /** Takes a datagram that arrived from the other end. */
  receive(datagram: Uint8Array): ReceivedDatagram {
    const { core, address } = this;
    const code = this.put(datagram, (at, size) =>
      core.exports[`cw_${this.#name}_receive`](address, at, size),
    );
    if (code === 0) return 'ok';
    const name = codes[code]!;
    if (!/^(MALFORMED|STALE|DUPLICATE)$/.test(name)) throw core.error(code);
    return name.toLowerCase() as ReceivedDatagram;
  }

  /** Returns the next datagram to be sent; undefined when there is none. Call it until then. */
  transmit(): Uint8Array<ArrayBuffer> | undefined {
    const { exports, memory } = this.core;
    const out = this.core.memoryFor(this.#capacity);
    const size = exports[`cw_${this.#name}_transmit`](this.address, out, this.#capacity);
    return size > 0 ? memory.copy(out, size) : undefined;
  }

  /** Returns what happened next, with copies of bytes; undefined when there is nothing. Call it until then. */
  next(): Event | undefined {
    const { exports, memory, scratch } = this.core;
    if (!exports[`cw_${this.#name}_next`](this.address, scratch)) return undefined;
    const { struct, types } = this.events;
    const raw = memory.struct(scratch, struct.fields) as unknown as RawEvent;
    const { type, data, payload, size, ...own } = raw;
    const at = data ?? payload;
    return { type: types[type], ...own, ...(at && { data: memory.copy(at, size) }) } as Event;
  }

  /** Calls a function of the module with bytes, which are in its memory for that call. @internal */
  protected put(data: Uint8Array, call: (at: number, size: number) => number): number {
    const at = this.core.memoryFor(data.length);
    this.core.memory.bytes.set(data, at);
    return call(at, data.length);
  }
}

/**
 * Loads the protocols. Without a source, every call returns the instance that was loaded first.
 * @throws {@link ConnectError} when it cannot be fetched or is no module of this package.
 */
export const loadProtocols: (options?: LoadOptions) => Promise<ProtocolCore> = loader(
  'causeway-protocols.wasm',
  () => new URL('../causeway-protocols.wasm', import.meta.url),
  (module) => ProtocolCore.instantiate(module),
).load;
