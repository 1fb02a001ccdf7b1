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
  struct<Key extends string>(
    address: number,
    fields: readonly (readonly [Key, 'u64' | 'f64'])[],
  ): Record<Key, number> {
    const view = this.view;
    const result = {} as Record<Key, number>;
    let offset = address;
    for (const [name, type] of fields) {
      result[name] =
        type === 'f64' ? view.getFloat64(offset, true) : Number(view.getBigUint64(offset, true));
      offset += 8;
    }
    return result;
  }

  /** Writes the fields of a C struct of floating-point numbers; what is not given is 0. */
  setStruct<Key extends string>(
    address: number,
    fields: readonly (readonly [Key, 'f64'])[],
    values: { readonly [Name in Key]?: number },
  ): void {
    const view = this.view;
    fields.forEach(([name], i) => view.setFloat64(address + 8 * i, values[name] ?? 0, true));
  }

  #refresh(): void {
    this.#bytes = new Uint8Array(this.#memory.buffer as ArrayBuffer);
    this.#view = new DataView(this.#memory.buffer);
  }
}
