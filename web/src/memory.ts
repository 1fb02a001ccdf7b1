/** The ways to read a field of a C struct. */
type Reader = 'bool' | 'u16' | 'u32' | 'i32' | 'u64' | 'f32' | 'f64';

/** A field of a C struct: its name, type, and offset in bytes. */
type Field<Key> = readonly [Key, Reader, number];

const readers: Record<Reader, (view: DataView, at: number) => number> = {
  bool: (view, at) => view.getUint8(at),
  u16: (view, at) => view.getUint16(at, true),
  u32: (view, at) => view.getUint32(at, true),
  i32: (view, at) => view.getInt32(at, true),
  u64: (view, at) => Number(view.getBigUint64(at, true)),
  f32: (view, at) => view.getFloat32(at, true),
  f64: (view, at) => view.getFloat64(at, true),
};

const writers: Record<Reader, (view: DataView, at: number, value: number) => void> = {
  bool: (view, at, value) => view.setUint8(at, value),
  u16: (view, at, value) => view.setUint16(at, value, true),
  u32: (view, at, value) => view.setUint32(at, value, true),
  i32: (view, at, value) => view.setInt32(at, value, true),
  u64: (view, at, value) => view.setBigUint64(at, BigInt(value), true),
  f32: (view, at, value) => view.setFloat32(at, value, true),
  f64: (view, at, value) => view.setFloat64(at, value, true),
};

const encoder = new TextEncoder();
const decoder = new TextDecoder();

/** Returns the numbers of a config in the order of a C struct of doubles; NaN stands for the default. */
export const numbersOf = <Config>(
  fields: readonly Field<keyof Config>[],
  config: Config,
): number[] => fields.map(([name]) => (config[name] as number | undefined) ?? NaN);

/**
 * Views of a module's memory. A view is detached, and then has no bytes, when the memory grows. This class makes new
 * views when that has happened, so what it returns is valid until the next call into the module, and no longer.
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

  /** Writes bytes to an address with space for `room` of them, and returns how many fit. */
  put(data: Uint8Array, address: number, room: number): number {
    this.bytes.set(data.length > room ? data.subarray(0, room) : data, address);
    return Math.min(data.length, room);
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

  /** Writes a C string to an address with space for `room` bytes, as much of it as fits. */
  putText(text: string, address: number, room: number): void {
    const { bytes } = this;
    const { written } = encoder.encodeInto(text, bytes.subarray(address, address + room - 1));
    bytes[address + written] = 0;
  }

  /** Returns a plain object with the fields of a C struct. */
  struct<Key extends string>(address: number, fields: readonly Field<Key>[]): Record<Key, number> {
    const view = this.view;
    const result = {} as Record<Key, number>;
    for (const [name, type, offset] of fields) result[name] = readers[type](view, address + offset);
    return result;
  }

  /** Writes those fields of a C struct that are given. */
  setStruct<Key extends string>(
    address: number,
    fields: readonly Field<Key>[],
    values: { readonly [Name in Key]?: number | boolean | undefined },
  ): void {
    const view = this.view;
    for (const [name, type, offset] of fields) {
      const value = values[name];
      if (value !== undefined) writers[type](view, address + offset, Number(value));
    }
  }

  #refresh(): void {
    this.#bytes = new Uint8Array(this.#memory.buffer as ArrayBuffer);
    this.#view = new DataView(this.#memory.buffer);
  }
}
