import { MisuseError } from '../errors.js';
import type { Memory } from '../memory.js';
import { WasmObject, type WasmModule } from '../module.js';
import type { Field, Fields, View } from './fields.js';
import type { Schema } from './schema.js';

/** A slot checks one value, stores it in the struct of a message, and reads it from there. */
interface Slot {
  /** The size of the value, and the number of which its address is a multiple, both in bytes. */
  readonly size: number;
  readonly alignment: number;
  write(memory: Memory, address: number, value: unknown): void;
  read(memory: Memory, address: number): unknown;
}

/** A path names the place of a value in a message, for errors. It becomes a text only when there is an error. */
class Path {
  /** The item of an array that is being written, -1 for the array itself. */
  item = -1;
  readonly #name: string;
  readonly #outer: Path | undefined;

  constructor(name: string, outer?: Path) {
    this.#name = name;
    this.#outer = outer;
  }

  toString(): string {
    const outer = this.#outer ? `${this.#outer.toString()}.` : '';
    return `${outer}${this.#name}${this.item < 0 ? '' : `[${this.item}]`}`;
  }
}

const encoder = new TextEncoder();
/** The decoder keeps a U+FEFF at the beginning of a text, where it is not a mark of the encoding. */
const decoder = new TextDecoder('utf-8', { ignoreBOM: true });

const wrong = (path: Path, value: unknown, wanted: string): Error => {
  const shown = typeof value === 'string' ? 'a string' : String(value);
  const message = `${path.toString()}: ${shown} is not ${wanted}`;
  return value === null ? new MisuseError('INVALID_ARGUMENT', message) : new TypeError(message);
};

/** Throws when a field cannot hold a value. */
type Check = (value: unknown) => void;

/** Makes the slot of a number of 4 or 8 bytes, with a check of its value. */
const number = (
  size: 4 | 8,
  read: (view: DataView, address: number) => number | bigint,
  write: (view: DataView, address: number, value: never) => void,
  check: Check,
): Slot => ({
  size,
  alignment: size,
  write: (memory, address, value) => {
    check(value);
    write(memory.view, address, value as never);
  },
  read: (memory, address) => read(memory.view, address),
});

const isFloat =
  (path: Path): Check =>
  (value) => {
    if (typeof value !== 'number') throw wrong(path, value, 'a number');
  };

const isFinite =
  (path: Path): Check =>
  (value) => {
    if (typeof value !== 'number') throw wrong(path, value, 'a number');
    if (!Number.isFinite(value)) throw new RangeError(`${path.toString()}: ${value} is not finite`);
  };

const isWhole = ({ min, max }: Field<unknown>, path: Path): Check => {
  const [least, most] = [Number(min), Number(max)];
  return (value) => {
    if (typeof value !== 'number') throw wrong(path, value, 'a number');
    if (!(Number.isInteger(value) && value >= least && value <= most))
      throw new RangeError(
        `${path.toString()}: ${value} is not a whole number from ${min} to ${max}`,
      );
  };
};

const isBig =
  ({ min, max }: Field<unknown>, path: Path): Check =>
  (value) => {
    if (typeof value !== 'bigint') throw wrong(path, value, 'a bigint');
    if (value < min || value > max)
      throw new RangeError(`${path.toString()}: ${value} is not from ${min} to ${max}`);
  };

const tooLong = (path: Path, size: number, max: number): RangeError =>
  new RangeError(`${path.toString()}: ${size} bytes are more than ${max}`);

/** Makes the slot of a `struct { uint32_t size; uint8_t data[max]; }`. */
const bytesSlot = (max: number, path: Path): Slot => ({
  size: Math.ceil((4 + max) / 4) * 4,
  alignment: 4,
  write: (memory, address, value) => {
    if (!(value instanceof Uint8Array)) throw wrong(path, value, 'a Uint8Array');
    if (value.length > max) throw tooLong(path, value.length, max);
    memory.view.setUint32(address, value.length, true);
    memory.bytes.set(value, address + 4);
  },
  read: (memory, address) => memory.copy(address + 4, memory.u32(address)),
});

/** Makes the slot of a `char[max + 1]`. */
const stringSlot = (max: number, path: Path): Slot => ({
  size: max + 1,
  alignment: 1,
  write: (memory, address, value) => {
    if (typeof value !== 'string') throw wrong(path, value, 'a string');
    if (value.includes('\0'))
      throw new RangeError(`${path.toString()}: it has the character U+0000`);
    const place = memory.bytes.subarray(address, address + max);
    const { read, written } = encoder.encodeInto(value, place);
    if (read < value.length) throw tooLong(path, encoder.encode(value).length, max);
    memory.bytes[address + written] = 0;
  },
  read: (memory, address) => {
    const { bytes } = memory;
    return decoder.decode(bytes.subarray(address, bytes.indexOf(0, address)));
  },
});

const boolSlot = (path: Path): Slot => ({
  size: 1,
  alignment: 1,
  write: (memory, address, value) => {
    if (typeof value !== 'boolean') throw wrong(path, value, 'true or false');
    memory.bytes[address] = Number(value);
  },
  read: (memory, address) => memory.bytes[address] === 1,
});

/** The slot of a field that has no member. */
const alignSlot: Slot = { size: 0, alignment: 1, write: () => {}, read: () => undefined };

const roundUp = (size: number, alignment: number): number =>
  Math.ceil(size / alignment) * alignment;

/** Makes the slot of a `struct { bool present; value; }`. */
const optionalSlot = (slot: Slot): Slot => {
  const { alignment } = slot;
  const place = roundUp(1, alignment);
  return {
    size: place + slot.size,
    alignment,
    write: (memory, address, value) => {
      memory.bytes[address] = Number(value !== undefined);
      if (value !== undefined) slot.write(memory, address + place, value);
    },
    read: (memory, address) =>
      memory.bytes[address] === 1 ? slot.read(memory, address + place) : undefined,
  };
};

/** Makes the slot of a `struct { uint32_t count; items[max]; }`. */
const arraySlot = (slot: Slot, max: number, path: Path): Slot => {
  const alignment = Math.max(4, slot.alignment);
  const place = roundUp(4, slot.alignment);
  return {
    size: roundUp(place + max * slot.size, alignment),
    alignment,
    write: (memory, address, value) => {
      path.item = -1;
      if (!Array.isArray(value)) throw wrong(path, value, 'an array');
      if (value.length > max)
        throw new RangeError(`${path.toString()}: ${value.length} items are more than ${max}`);
      memory.view.setUint32(address, value.length, true);
      for (let i = 0; i < value.length; i++) {
        path.item = i;
        slot.write(memory, address + place + i * slot.size, value[i]);
      }
    },
    read: (memory, address) => {
      const items: unknown[] = [];
      const count = memory.u32(address);
      for (let i = 0; i < count; i++)
        items.push(slot.read(memory, address + place + i * slot.size));
      return items;
    },
  };
};

/** Makes the slot of a struct, with its members placed as a C compiler places them. */
const structSlot = (fields: Fields, path: Path): Slot => {
  let end = 0;
  let alignment = 1;
  const members = Object.entries(fields).map(([name, field]) => {
    const slot = slotOf(field, new Path(name, path));
    const offset = roundUp(end, slot.alignment);
    end = offset + slot.size;
    alignment = Math.max(alignment, slot.alignment);
    return { name, offset, slot };
  });
  return {
    size: roundUp(end, alignment),
    alignment,
    write: (memory, address, value) => {
      if (typeof value !== 'object' || value === null) throw wrong(path, value, 'an object');
      for (const { name, offset, slot } of members)
        slot.write(memory, address + offset, (value as Record<string, unknown>)[name]);
    },
    read: (memory, address) => {
      const value: Record<string, unknown> = {};
      for (const { name, offset, slot } of members) {
        const member = slot.read(memory, address + offset);
        if (member !== undefined) value[name] = member;
      }
      return value;
    },
  };
};

/** Makes the slot of a value that has another form in the core. */
const viewSlot = (slot: Slot, view: View, path: Path): Slot => ({
  ...slot,
  write: (memory, address, value) => {
    const kept = view.toCore(value);
    if (kept === undefined) {
      const error = wrong(path, value, view.wanted);
      throw value !== null && typeof value === view.type ? new RangeError(error.message) : error;
    }
    slot.write(memory, address, kept);
  },
  read: (memory, address) => view.fromCore(slot.read(memory, address) as never),
});

const plainSlot = (field: Field<unknown>, path: Path): Slot => {
  switch (field.kind) {
    case 'bool':
      return boolSlot(path);
    case 'int':
      return number(
        4,
        (view, at) => view.getInt32(at, true),
        (view, at, value) => view.setInt32(at, value, true),
        isWhole(field, path),
      );
    case 'uint':
    case 'relative':
      return number(
        4,
        (view, at) => view.getUint32(at, true),
        (view, at, value) => view.setUint32(at, value, true),
        isWhole(field, path),
      );
    case 'int64':
      return number(
        8,
        (view, at) => view.getBigInt64(at, true),
        (view, at, value) => view.setBigInt64(at, value, true),
        isBig(field, path),
      );
    case 'uint64':
      return number(
        8,
        (view, at) => view.getBigUint64(at, true),
        (view, at, value) => view.setBigUint64(at, value, true),
        isBig(field, path),
      );
    case 'float':
    case 'compressedFloat':
      return number(
        4,
        (view, at) => view.getFloat32(at, true),
        (view, at, value) => view.setFloat32(at, value, true),
        field.kind === 'float' ? isFloat(path) : isFinite(path),
      );
    case 'double':
      return number(
        8,
        (view, at) => view.getFloat64(at, true),
        (view, at, value) => view.setFloat64(at, value, true),
        isFloat(path),
      );
    case 'bytes':
      return bytesSlot(Number(field.max), path);
    case 'string':
      return stringSlot(Number(field.max), path);
    case 'struct':
      return structSlot(field.fields!, path);
    case 'align':
    case 'constant':
      return alignSlot;
  }
};

const slotOf = (field: Field<unknown>, path: Path): Slot => {
  const { view } = field;
  const viewed = (slot: Slot, isItem: boolean): Slot =>
    view && isItem !== (view.whole ?? false) ? viewSlot(slot, view, path) : slot;
  const slot = viewed(plainSlot(field, path), true);
  if (field.optional) return optionalSlot(slot);
  return field.array > 0 ? viewed(arraySlot(slot, field.array, path), false) : slot;
};

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
  write(number: number, address: number, value: Readonly<Record<string, unknown>>): void {
    this.#types[number]!.slot.write(this.core.memory, address, value);
  }

  read(number: number, address: number): Record<string, unknown> {
    return this.#types[number]!.slot.read(this.core.memory, address) as Record<string, unknown>;
  }
}
