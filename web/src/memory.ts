/** The ways to read a field of a C struct. */
type Reader = 'bool' | 'u8' | 'u16' | 'u32' | 'i32' | 'u64' | 'f32' | 'f64' | 'address';

/** The fields of a C struct that are numbers, by their type and name: their offsets in bytes. */
type Fields<Key extends string> = {
  readonly [Type in Reader]?: { readonly [Name in Key]?: number };
};

/** The size of a C struct, its fields, and for options with names these, by their numbers. */
export interface Struct<Key extends string = string> {
  readonly size: number;
  readonly fields: Fields<Key>;
  readonly names: Readonly<Record<string, readonly string[]>>;
}

/** Calls `use` with each field of a C struct. */
const eachField = <Key extends string>(
  fields: Fields<Key>,
  use: (name: Key, type: Reader, offset: number) => void,
): void => {
  for (const type in fields) {
    const its = fields[type as Reader]!;
    for (const name in its) use(name, type as Reader, its[name]!);
  }
};

/** A value of a field, which a writer converts. */
type Value = bigint | number | boolean;

/** The types of fields as the methods of a DataView name them. */
const methods = {
  bool: 'Uint8',
  u8: 'Uint8',
  u16: 'Uint16',
  u32: 'Uint32',
  i32: 'Int32',
  u64: 'BigUint64',
  f32: 'Float32',
  f64: 'Float64',
  address: 'Uint32',
} as const satisfies Record<Reader, string>;

const readField = (view: DataView, type: Reader, at: number): number =>
  Number((view[`get${methods[type]}`] as DataView['getUint32'])(at, true));

const writeField = (view: DataView, type: Reader, at: number, value: Value): void =>
  (view[`set${methods[type]}`] as (at: number, value: Value, isLittle: true) => void)(
    at,
    type === 'u64' ? BigInt(value) : Number(value),
    true,
  );

/**
 * No field takes this number, unless it has no limits. The number above it stands for a default that depends on other
 * fields.
 */
const NO_OPTION = 2 ** 32 - 2;

const isOption = (value: number): boolean =>
  Number.isInteger(value) && value >= 0 && value < NO_OPTION;

const encoder = new TextEncoder();
const decoder = new TextDecoder();

/**
 * This class has views of a module's memory. When the memory grows, a view is detached and has no bytes any more. Then
 * the class makes new views, so what it returns is valid until the next call into the module, and no longer.
 */
export class Memory {
  readonly #memory: WebAssembly.Memory;
  #bytes: Uint8Array<ArrayBuffer>;
  #view: DataView;

  constructor(memory: WebAssembly.Memory) {
    this.#memory = memory;
    this.#bytes = new Uint8Array(memory.buffer as ArrayBuffer);
    this.#view = new DataView(memory.buffer);
  }

  /** All of the memory as bytes. */
  get bytes(): Uint8Array<ArrayBuffer> {
    if (this.#bytes.length === 0) this.#refresh();
    return this.#bytes;
  }

  /** All of the memory for numbers, which are little-endian. */
  get view(): DataView {
    if (this.#bytes.length === 0) this.#refresh();
    return this.#view;
  }

  u32(address: number): number {
    return this.view.getUint32(address, true);
  }

  setU32(address: number, value: number): void {
    this.view.setUint32(address, value, true);
  }

  f64(address: number): number {
    return this.view.getFloat64(address, true);
  }

  /** Writes bytes to an address where `capacity` of them fit, and returns how many it wrote. */
  put(data: Uint8Array, address: number, capacity: number): number {
    this.bytes.set(data.length > capacity ? data.subarray(0, capacity) : data, address);
    return Math.min(data.length, capacity);
  }

  u64(address: number): bigint {
    return this.view.getBigUint64(address, true);
  }

  /** Returns a copy of `size` bytes. */
  copy(address: number, size: number): Uint8Array<ArrayBuffer> {
    return this.bytes.slice(address, address + size);
  }

  /** Returns the text of a C string. */
  text(address: number): string {
    const end = this.bytes.indexOf(0, address);
    return decoder.decode(this.bytes.subarray(address, end));
  }

  /** Writes a C string to an address where `capacity` bytes fit, and as much of it as fits. */
  putText(text: string, address: number, capacity: number): void {
    const { bytes } = this;
    const { written } = encoder.encodeInto(text, bytes.subarray(address, address + capacity - 1));
    bytes[address + written] = 0;
  }

  /** Returns a plain object with the fields of a C struct. */
  struct<Key extends string>(address: number, fields: Fields<Key>): Record<Key, number> {
    const view = this.view;
    const result = {} as Record<Key, number>;
    eachField(fields, (name, type, offset) => {
      result[name] = readField(view, type, address + offset);
    });
    return result;
  }

  /** Writes those fields of a C struct that are given. */
  setStruct<Key extends string>(
    address: number,
    fields: Fields<Key>,
    values: { readonly [Name in Key]?: bigint | number | boolean | undefined },
  ): void {
    const view = this.view;
    eachField(fields, (name, type, offset) => {
      const value = values[name];
      if (value !== undefined) writeField(view, type, address + offset, value);
    });
  }

  /**
   * Writes the options of a config over its defaults; one that is missing or null keeps its default. A number that does
   * not fit becomes one that the field does not take, so that C says what it takes.
   */
  setConfig(address: number, { fields, names }: Struct, config: object): void {
    const view = this.view;
    eachField(fields, (name, type, offset) => {
      const given = (config as Record<string, unknown>)[name] ?? undefined;
      const value = typeof given === 'string' ? (names[name]?.indexOf(given) ?? given) : given;
      if (value === undefined || (type === 'address' && typeof value !== 'number')) return;
      const at = address + offset;
      const fits = type !== 'u32' || isOption(Number(value));
      const other = view.getUint32(at, true) === 0 ? NO_OPTION : 0;
      writeField(view, type, at, fits ? (value as Value) : other);
    });
  }

  #refresh(): void {
    this.#bytes = new Uint8Array(this.#memory.buffer as ArrayBuffer);
    this.#view = new DataView(this.#memory.buffer);
  }
}

/**
 * The memory where a module puts datagrams. There is one view of it for each size, because a new view and a copy leave
 * 230 bytes to the garbage collector for each datagram.
 */
export class Outgoing {
  readonly address: number;
  readonly #memory: Memory;
  readonly #views: Uint8Array<ArrayBuffer>[] = [];

  constructor(memory: Memory, address: number) {
    this.#memory = memory;
    this.address = address;
  }

  /** Returns a view of the first bytes, which is valid until the next call into the module. */
  view(size: number): Uint8Array<ArrayBuffer> {
    const view = this.#views[size];
    // A view from before the memory has grown is empty.
    if (view?.length === size) return view;
    return (this.#views[size] = this.#memory.bytes.subarray(this.address, this.address + size));
  }
}
