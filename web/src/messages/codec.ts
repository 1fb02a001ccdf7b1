import { WasmObject, type WasmModule } from '../module.js';
import type { Schema } from './schema.js';
import { Path, structSlot, type Slot } from './slots.js';

/** A schema in the core, which fills in and reads the structs of its messages. */
export class CoreSchema extends WasmObject {
  readonly #types: readonly { readonly name: string; readonly slot: Slot }[];
  readonly #numbers: ReadonlyMap<string, number>;

  /** @throws {@link MisuseError} with a code `SCHEMA_...` when the core cannot work with it. */
  constructor(core: WasmModule, schema: Schema) {
    const { exports } = core;
    const encoded: unknown = schema?.encoded;
    if (!(encoded instanceof Uint8Array))
      throw new TypeError('schema: it is not what schema(message(...), ...) makes');
    const bytes = core.memoryFor(encoded.length);
    core.memory.bytes.set(encoded, bytes);
    const made = core.made((out) => exports.cw_schema_decode(bytes, encoded.length, 0, out));
    super(core, made, exports.cw_schema_destroy);
    this.#types = schema.types.map(({ name, fields }) => ({
      name,
      slot: structSlot(fields, new Path(name)),
    }));
    this.#numbers = new Map(schema.types.map((type, number) => [type.name, number]));
  }

  /** The address of the schema in the module. */
  get pointer(): number {
    return this.address;
  }

  /** Returns the number of a type on the wire. */
  number(name: string): number {
    const number = this.#numbers.get(name);
    if (number === undefined) throw new RangeError(`the schema has no message ${name}`);
    return number;
  }

  name(number: number): string {
    return this.#types[number]!.name;
  }

  /** Fills in a struct. Throws a RangeError or TypeError that names the field when a value does not fit. */
  write(number: number, address: number, value: object): void {
    this.#types[number]!.slot.write(this.core.memory, address, value);
  }

  read(number: number, address: number): Record<string, unknown> {
    return this.#types[number]!.slot.read(this.core.memory, address) as Record<string, unknown>;
  }
}
