/// <reference lib="esnext.disposable" preserve="true" />
import {
  ConnectError,
  MisuseError,
  coreError,
  type ConnectionError,
  type CoreErrorCode,
} from './errors.js';
import { errorCodes, firstConfigError, type ModuleFunctions } from './generated.js';
import { Memory, type Struct } from './memory.js';

/** The exports that every module of this package has. */
export interface ModuleExports extends ModuleFunctions {
  readonly memory: WebAssembly.Memory;
  _initialize(): void;
}

/** The result of any call that is not a number fits into this many bytes. The longest results are statistics. */
const SCRATCH_SIZE = 1024;

/** These arrays have lengths that C counts in fields of their own. */
const arrays: Readonly<Record<string, string>> = {
  channel_count: 'channels',
  address_count: 'addresses',
};

/** Makes an error of the core's sentence about a field of a config, with the names that fields have in TypeScript. */
function configError(sentence: string): MisuseError {
  const message = sentence
    .replace(/^\w+/, (field) => arrays[field] ?? field)
    .replace(
      /([a-z])_([a-z])/g,
      (_, before: string, after: string) => before + after.toUpperCase(),
    );
  return new MisuseError('CONFIG', message, /^\w+/.exec(message)?.[0]);
}

/** An instance of one of the package's WebAssembly modules. */
export abstract class WasmModule<Exports extends ModuleExports = ModuleExports> {
  /** @internal */
  readonly exports: Exports;
  /** @internal */
  readonly memory: Memory;
  /** The address of memory for results of one call that are not a number. @internal */
  readonly scratch: number;
  #callMemory = 0;
  #callSize = 0;

  /** @internal */
  protected constructor(instance: WebAssembly.Instance, name: string) {
    const exports = instance.exports as unknown as Exports;
    if (!(exports.memory instanceof WebAssembly.Memory) || typeof exports.allocate !== 'function')
      throw new ConnectError('LOAD', 'load', `the module is not ${name}`);
    exports._initialize();
    this.exports = exports;
    this.memory = new Memory(exports.memory);
    this.scratch = this.allocate(SCRATCH_SIZE);
  }

  /** Throws the error that a function of the module returned, if it is one. @internal */
  check(code: number): void {
    if (code !== 0) throw this.error(code);
  }

  /** @internal */
  error(code: number | CoreErrorCode): MisuseError | ConnectionError {
    const number =
      typeof code === 'number' ? code : (errorCodes as readonly string[]).indexOf(code);
    const sentence = this.memory.text(this.exports.error_string(number));
    return number < firstConfigError
      ? coreError(this.codeName(number) as CoreErrorCode, sentence)
      : configError(sentence);
  }

  /** Returns the name of an error that does not concern a config. @internal */
  protected codeName(code: number): string | undefined {
    return errorCodes[code];
  }

  /** @internal */
  allocate(size: number): number {
    const address = this.exports.allocate(size);
    if (address === 0) throw this.error('NO_MEMORY');
    return address;
  }

  /** Allocates memory in the module for as long as `use` takes. @internal */
  withMemory<Result>(size: number, use: (address: number) => Result): Result {
    const address = this.allocate(size);
    try {
      return use(address);
    } finally {
      this.exports.release(address);
    }
  }

  /** Returns the address of memory for the bytes and structs of one call, valid until the next use. @internal */
  memoryFor(size: number): number {
    if (size > this.#callSize) {
      if (this.#callMemory) this.exports.release(this.#callMemory);
      this.#callSize = Math.max(1024, 2 * size);
      this.#callMemory = this.allocate(this.#callSize);
    }
    return this.#callMemory;
  }

  /**
   * Writes a config with the defaults, as changed by `values`, and returns its address. `defaults` is the function of
   * the header. @internal
   */
  configure(struct: Struct, values: object, defaults: (out: number) => void): number {
    const config = this.memoryFor(struct.size);
    defaults(config);
    this.memory.setConfig(config, struct, values);
    return config;
  }

  /** Returns the address that a function of the header writes to its last argument. @internal */
  made(make: (out: number) => number): number {
    this.check(make(this.scratch));
    return this.memory.u32(this.scratch);
  }

  /** Creates an object from the defaults, as changed by `values`, and returns its address. @internal */
  create(
    struct: Struct,
    values: object,
    defaults: (out: number) => void,
    make: (config: number, out: number) => number,
  ): number {
    const config = this.configure(struct, values, defaults);
    return this.made((out) => make(config, out));
  }

  /** Returns the struct that `fill` fills in. @internal */
  read<Key extends string>(
    { fields }: Struct<Key>,
    fill: (out: number) => void,
  ): Record<Key, number> {
    fill(this.scratch);
    return this.memory.struct(this.scratch, fields);
  }
}

/** The memory that an object holds in the module. */
interface Holding {
  readonly exports: ModuleExports;
  readonly address: number;
  readonly destroy: (address: number) => void;
  readonly buffers: number[];
}

const free = ({ exports, address, destroy, buffers }: Holding): void => {
  destroy(address);
  buffers.forEach((buffer) => exports.release(buffer));
};

const abandoned = new FinalizationRegistry<Holding>(free);

/**
 * An object that lives in a module. `destroy()` gives its memory back at once; without it the garbage
 * collector does so some time after the object became unreachable.
 */
export abstract class WasmObject<Of extends WasmModule = WasmModule> {
  /** @internal */
  protected readonly core: Of;
  #holding: Holding | undefined;

  /** @internal */
  protected constructor(core: Of, address: number, destroy: (address: number) => void) {
    this.core = core;
    this.#holding = { exports: core.exports, address, destroy, buffers: [] };
    abandoned.register(this, this.#holding, this);
  }

  /** The address of the object in the module. @internal */
  protected get address(): number {
    if (!this.#holding)
      throw new MisuseError('DESTROYED', `this ${this.constructor.name} has been destroyed`);
    return this.#holding.address;
  }

  /** Allocates memory that lives as long as the object. @internal */
  protected buffer(size: number): number {
    const buffer = this.core.allocate(size);
    this.#holding?.buffers.push(buffer);
    return buffer;
  }

  /** Gives the memory back. The object cannot be used afterwards; a second call does nothing. */
  destroy(): void {
    if (!this.#holding) return;
    abandoned.unregister(this);
    free(this.#holding);
    this.#holding = undefined;
  }

  /** The same as {@link destroy}, for `using`, in engines that have it. */
  declare [Symbol.dispose]: () => void;
}

// Where there is no such symbol, a method by this name would be called "undefined".
if (Symbol.dispose)
  WasmObject.prototype[Symbol.dispose] = function () {
    this.destroy();
  };
