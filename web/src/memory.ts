/** A field of a C struct: its name, type, and offset in bytes. */
type Field<Key extends string> = readonly [Key, 'u64' | 'f64' | 'u32', number];

/**
 * Views of a module's memory. A view is detached when the memory grows; these look again before every
 * use, so what they return is valid until the next call into the module, and no longer.
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
    if (this.#bytes.buffer !== this.#memory.buffer) this.#refresh();
    return this.#bytes;
  }

  /** All of the memory for numbers, which are little-endian. */
  get view(): DataView {
    if (this.#bytes.buffer !== this.#memory.buffer) this.#refresh();
    return this.#view;
  }

  u32(address: number): number {
    return this.view.getUint32(address, true);
  }

  /** A copy of `size` bytes. */
  copy(address: number, size: number): Uint8Array<ArrayBuffer> {
    return this.bytes.slice(address, address + size);
  }

  /** The text of a C string. */
  text(address: number): string {
    const end = this.bytes.indexOf(0, address);
    return new TextDecoder().decode(this.bytes.subarray(address, end));
  }

  /** A plain object with the fields of a C struct. */
  struct<Key extends string>(address: number, fields: readonly Field<Key>[]): Record<Key, number> {
    const view = this.view;
    const result = {} as Record<Key, number>;
    for (const [name, type, offset] of fields) {
      const place = address + offset;
      if (type === 'f64') result[name] = view.getFloat64(place, true);
      else if (type === 'u64') result[name] = Number(view.getBigUint64(place, true));
      else result[name] = view.getUint32(place, true);
    }
    return result;
  }

  /** Writes the fields of a C struct of floating-point numbers; what is not given is 0. */
  setStruct<Key extends string>(
    address: number,
    fields: readonly Field<Key>[],
    values: { readonly [Name in Key]?: number },
  ): void {
    const view = this.view;
    for (const [name, , offset] of fields)
      view.setFloat64(address + offset, values[name] ?? 0, true);
  }

  #refresh(): void {
    this.#bytes = new Uint8Array(this.#memory.buffer as ArrayBuffer);
    this.#view = new DataView(this.#memory.buffer);
  }
}
