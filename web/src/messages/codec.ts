import { createdFields } from '../generated.js';
import type { Memory } from '../memory.js';
import { WasmObject, type WasmModule } from '../module.js';
import type { Field, Fields } from './fields.js';
import type { Schema } from './schema.js';

/** How one value is checked and stored in the struct of a message, and read from it. */
interface Slot {
  /** Its bytes, and what its address is a multiple of. */
  readonly size: number;
  readonly alignment: number;
  write(memory: Memory, address: number, value: unknown, name: string): void;
  read(memory: Memory, address: number): unknown;
}

const encoder = new TextEncoder();
const decoder = new TextDecoder();

const wrong = (name: string, value: unknown, wanted: string): TypeError =>
  new TypeError(
    `${name}: ${typeof value === 'string' ? 'a string' : String(value)} is not ${wanted}`,
  );

/** A number of 4 or 8 bytes, with what it may be. */
const number = (
  size: 4 | 8,
  read: (view: DataView, address: number) => number | bigint,
  write: (view: DataView, address: number, value: never) => void,
  check: (value: unknown, name: string) => void,
): Slot => ({
  size,
  alignment: size,
  write: (memory, address, value, name) => {
    check(value, name);
    write(memory.view, address, value as never);
  },
  read: (memory, address) => read(memory.view, address),
});

const isFloat = (value: unknown, name: string): void => {
  if (typeof value !== 'number') throw wrong(name, value, 'a number');
};

const isWhole = ({ min, max }: Field<unknown>) => {
  const [least, most] = [Number(min), Number(max)];
  return (value: unknown, name: string): void => {
    if (typeof value !== 'number') throw wrong(name, value, 'a number');
    if (!(Number.isInteger(value) && value >= least && value <= most))
      throw new RangeError(`${name}: ${value} is not a whole number from ${min} to ${max}`);
  };
};

const isBig =
  ({ min, max }: Field<unknown>) =>
  (value: unknown, name: string): void => {
    if (typeof value !== 'bigint') throw wrong(name, value, 'a bigint');
    if (value < min || value > max)
      throw new RangeError(`${name}: ${value} is not from ${min} to ${max}`);
  };

const isFinite = (value: unknown, name: string): void => {
  isFloat(value, name);
  if (!Number.isFinite(value)) throw new RangeError(`${name}: ${String(value)} is not finite`);
};

const tooLong = (name: string, size: number, max: number): RangeError =>
  new RangeError(`${name}: ${size} bytes are more than ${max}`);

/** `struct { uint32_t size; uint8_t data[max]; }` */
const bytesSlot = (max: number): Slot => ({
  size: Math.ceil((4 + max) / 4) * 4,
  alignment: 4,
  write: (memory, address, value, name) => {
    if (!(value instanceof Uint8Array)) throw wrong(name, value, 'a Uint8Array');
    if (value.length > max) throw tooLong(name, value.length, max);
    memory.view.setUint32(address, value.length, true);
    memory.bytes.set(value, address + 4);
  },
  read: (memory, address) => memory.copy(address + 4, memory.u32(address)),
});

/** `char[max + 1]` */
const stringSlot = (max: number): Slot => ({
  size: max + 1,
  alignment: 1,
  write: (memory, address, value, name) => {
    if (typeof value !== 'string') throw wrong(name, value, 'a string');
    if (value.includes('\0')) throw new RangeError(`${name}: it has the character U+0000`);
    const room = memory.bytes.subarray(address, address + max);
    const { read, written } = encoder.encodeInto(value, room);
    if (read < value.length) throw tooLong(name, encoder.encode(value).length, max);
    memory.bytes[address + written] = 0;
  },
  read: (memory, address) => {
    const { bytes } = memory;
    return decoder.decode(bytes.subarray(address, bytes.indexOf(0, address)));
  },
});

const boolSlot: Slot = {
  size: 1,
  alignment: 1,
  write: (memory, address, value, name) => {
    if (typeof value !== 'boolean') throw wrong(name, value, 'true or false');
    memory.bytes[address] = Number(value);
  },
  read: (memory, address) => memory.bytes[address] === 1,
};

const roundUp = (size: number, alignment: number): number =>
  Math.ceil(size / alignment) * alignment;

/** `struct { bool present; value; }` */
const optionalSlot = (slot: Slot): Slot => {
  const { alignment } = slot;
  const place = roundUp(1, alignment);
  return {
    size: place + slot.size,
    alignment,
    write: (memory, address, value, name) => {
      memory.bytes[address] = Number(value !== undefined);
      if (value !== undefined) slot.write(memory, address + place, value, name);
    },
    read: (memory, address) =>
      memory.bytes[address] === 1 ? slot.read(memory, address + place) : undefined,
  };
};

/** `struct { uint32_t count; items[max]; }` */
const arraySlot = (slot: Slot, max: number): Slot => {
  const alignment = Math.max(4, slot.alignment);
  const place = roundUp(4, slot.alignment);
  return {
    size: roundUp(place + max * slot.size, alignment),
    alignment,
    write: (memory, address, value, name) => {
      if (!Array.isArray(value)) throw wrong(name, value, 'an array');
      if (value.length > max)
        throw new RangeError(`${name}: ${value.length} items are more than ${max}`);
      memory.view.setUint32(address, value.length, true);
      value.forEach((item, i) =>
        slot.write(memory, address + place + i * slot.size, item, `${name}[${i}]`),
      );
    },
    read: (memory, address) =>
      Array.from({ length: memory.u32(address) }, (_, i) =>
        slot.read(memory, address + place + i * slot.size),
      ),
  };
};

/** A struct of these fields, its members placed as a C compiler places them. */
const structSlot = (fields: Fields): Slot => {
  let end = 0;
  let alignment = 1;
  const members = Object.entries(fields).map(([name, field]) => {
    const slot = slotOf(field);
    const offset = roundUp(end, slot.alignment);
    end = offset + slot.size;
    alignment = Math.max(alignment, slot.alignment);
    return { name, offset, slot };
  });
  return {
    size: roundUp(end, alignment),
    alignment,
    write: (memory, address, value, path) => {
      if (typeof value !== 'object' || value === null) throw wrong(path, value, 'an object');
      for (const { name, offset, slot } of members)
        slot.write(
          memory,
          address + offset,
          (value as Record<string, unknown>)[name],
          `${path}.${name}`,
        );
    },
    read: (memory, address) => {
      const value: Record<string, unknown> = {};
      for (const { name, offset, slot } of members) {
        const held = slot.read(memory, address + offset);
        if (held !== undefined) value[name] = held;
      }
      return value;
    },
  };
};

const plainSlot = (field: Field<unknown>): Slot => {
  switch (field.kind) {
    case 'bool':
      return boolSlot;
    case 'int':
      return number(
        4,
        (view, at) => view.getInt32(at, true),
        (view, at, value) => view.setInt32(at, value, true),
        isWhole(field),
      );
    case 'uint':
      return number(
        4,
        (view, at) => view.getUint32(at, true),
        (view, at, value) => view.setUint32(at, value, true),
        isWhole(field),
      );
    case 'int64':
      return number(
        8,
        (view, at) => view.getBigInt64(at, true),
        (view, at, value) => view.setBigInt64(at, value, true),
        isBig(field),
      );
    case 'uint64':
      return number(
        8,
        (view, at) => view.getBigUint64(at, true),
        (view, at, value) => view.setBigUint64(at, value, true),
        isBig(field),
      );
    case 'float':
    case 'compressedFloat':
      return number(
        4,
        (view, at) => view.getFloat32(at, true),
        (view, at, value) => view.setFloat32(at, value, true),
        field.kind === 'float' ? isFloat : isFinite,
      );
    case 'double':
      return number(
        8,
        (view, at) => view.getFloat64(at, true),
        (view, at, value) => view.setFloat64(at, value, true),
        isFloat,
      );
    case 'bytes':
      return bytesSlot(Number(field.max));
    case 'string':
      return stringSlot(Number(field.max));
    case 'struct':
      return structSlot(field.fields!);
  }
};

const slotOf = (field: Field<unknown>): Slot => {
  const slot = plainSlot(field);
  if (field.optional) return optionalSlot(slot);
  return field.array > 0 ? arraySlot(slot, field.array) : slot;
};

/** A schema in the core, and how its messages are filled in and read. */
export class CoreSchema extends WasmObject {
  readonly #types: readonly { readonly name: string; readonly slot: Slot }[];
  readonly #numbers: ReadonlyMap<string, number>;

  /** @throws {@link CoreError} with a code `SCHEMA_...` when the core cannot work with it. */
  constructor(core: WasmModule, schema: Schema) {
    const { exports, memory, scratch } = core;
    const encoded: unknown = schema?.encoded;
    if (!(encoded instanceof Uint8Array))
      throw new TypeError('schema: it is not what schema(message(...), ...) makes');
    const buffer = core.allocate(encoded.length);
    memory.bytes.set(encoded, buffer);
    const code = exports.schema_create(buffer, encoded.length);
    exports.release(buffer);
    core.check(code);
    super(core, memory.struct(scratch, createdFields).object, exports.schema_destroy);
    this.#types = schema.types.map(({ name, fields }) => ({ name, slot: structSlot(fields) }));
    this.#numbers = new Map(schema.types.map((type, number) => [type.name, number]));
  }

  /** Where the schema is in the module. */
  get pointer(): number {
    return this.address;
  }

  /** The number of a type on the wire. */
  number(name: string): number {
    const number = this.#numbers.get(name);
    if (number === undefined) throw new RangeError(`the schema has no message ${name}`);
    return number;
  }

  name(number: number): string {
    return this.#types[number]!.name;
  }

  /** Fills in a struct. Throws a RangeError or TypeError that names the field when a value does not fit. */
  write(number: number, address: number, value: Readonly<Record<string, unknown>>): void {
    const { name, slot } = this.#types[number]!;
    slot.write(this.core.memory, address, value, name);
  }

  read(number: number, address: number): Record<string, unknown> {
    return this.#types[number]!.slot.read(this.core.memory, address) as Record<string, unknown>;
  }
}
