/// <reference lib="esnext.disposable" preserve="true" />
import { CoreError, DestroyedError, LoadError, type CoreErrorCode } from './errors.js';
import { errorCodes, firstConfigError } from './generated.js';
import { Memory } from './memory.js';

/** The exports that every module of this package has. */
export interface ModuleExports {
  readonly memory: WebAssembly.Memory;
  _initialize(): void;
  scratch(): number;
  allocate(size: number): number;
  release(address: number): void;
  error_string(code: number): number;

  schema_create(bytes: number, size: number): number;
  schema_destroy(schema: number): void;
}

/** The arrays whose lengths C counts in fields of their own. */
const arrays: Readonly<Record<string, string>> = {
  channel_count: 'channels',
  address_count: 'addresses',
};

/** Makes an error of the core's sentence about a field of a config, with the names that fields have in TypeScript. */
function configError(sentence: string): CoreError {
  const message = sentence
    .replace(/^\w+/, (field) => arrays[field] ?? field)
    .replace(
      /([a-z])_([a-z])/g,
      (_, before: string, after: string) => before + after.toUpperCase(),
    );
  return new CoreError('CONFIG', message, /^\w+/.exec(message)?.[0]);
}

/** An instance of one of the package's WebAssembly modules. */
export abstract class WasmModule<Exports extends ModuleExports = ModuleExports> {
  /** @internal */
  readonly exports: Exports;
  /** @internal */
  readonly memory: Memory;
  /** The address where the module leaves results of more than one number. @internal */
  readonly scratch: number;

  /** @internal */
  protected constructor(instance: WebAssembly.Instance, name: string) {
    const exports = instance.exports as unknown as Exports;
    if (!(exports.memory instanceof WebAssembly.Memory) || typeof exports.scratch !== 'function')
      throw new LoadError(`the module is not ${name}`);
    exports._initialize();
    this.exports = exports;
    this.memory = new Memory(exports.memory);
    this.scratch = exports.scratch();
  }

  /** Throws the error that a function of the module returned, if it is one. @internal */
  check(code: number): void {
    if (code !== 0) throw this.error(code);
  }

  /** @internal */
  error(code: number | CoreErrorCode): CoreError {
    const number =
      typeof code === 'number' ? code : (errorCodes as readonly string[]).indexOf(code);
    const sentence = this.memory.text(this.exports.error_string(number));
    return number < firstConfigError
      ? new CoreError(this.codeName(number) as CoreErrorCode, sentence)
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
  withRoom<Result>(size: number, use: (address: number) => Result): Result {
    const address = this.allocate(size);
    try {
      return use(address);
    } finally {
      this.exports.release(address);
    }
  }

  /** Puts the numbers of a config into the module for as long as `use` takes. @internal */
  withNumbers<Result>(numbers: readonly number[], use: (address: number) => Result): Result {
    return this.withRoom(numbers.length * 8, (address) => {
      numbers.forEach((value, i) => this.memory.view.setFloat64(address + 8 * i, value, true));
      return use(address);
    });
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
    if (!this.#holding) throw new DestroyedError(this.constructor.name);
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
