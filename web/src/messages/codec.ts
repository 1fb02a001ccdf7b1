import { MisuseError } from '../errors.js';
import type { Memory } from '../memory.js';
import { WasmObject, type WasmModule } from '../module.js';
import type { Field, Fields, Kind, View } from './fields.js';
import type { Schema } from './schema.js';

/** A slot checks one value, stores it in the struct of a message, and reads it from there. */
interface Slot {
  /** The size of the value, and the number of which its address is a multiple, both in bytes. */
  readonly size: number;
  readonly alignment: number;
  readonly write: (memory: Memory, address: number, value: unknown) => void;
  readonly read: (memory: Memory, address: number) => unknown;
  /** The kind, if it is one that {@link store} and {@link load} know, and the limits of an integer. */
  readonly kind: Kind | 'other';
  readonly least: number;
  readonly most: number;
}

/** Makes a slot. All are made here, because engines are fast with objects that have their members in one order. */
const makeSlot = (
  size: number,
  alignment: number,
  write: Slot['write'],
  read: Slot['read'],
  { kind, min, max }: Pick<Slot, 'kind'> & Pick<Field<unknown>, 'min' | 'max'> = OTHER,
): Slot => ({ size, alignment, write, read, kind, least: Number(min), most: Number(max) });

const OTHER = { kind: 'other', min: 0n, max: 0n } as const;

/**
 * Writes a value to a slot. Calls of functions that differ from field to field take an engine longer than what they do,
 * so the frequent kinds are written here. The `write` of such a slot gets only values that do not fit.
 */
const store = (slot: Slot, memory: Memory, address: number, value: unknown): void => {
  switch (slot.kind) {
    case 'bool':
      if (typeof value === 'boolean') return memory.view.setUint8(address, Number(value));
      break;
    case 'int':
    case 'uint':
    case 'relative':
      if (isInteger(value) && value >= slot.least && value <= slot.most)
        return memory.view.setInt32(address, value, true);
      break;
    case 'float':
      if (typeof value === 'number') return memory.view.setFloat32(address, value, true);
      break;
    case 'compressedFloat':
      if (isFinite(value)) return memory.view.setFloat32(address, value, true);
  }
  slot.write(memory, address, value);
};

const isInteger = (value: unknown): value is number => Number.isInteger(value);
const isFinite = (value: unknown): value is number => Number.isFinite(value);

/** Reads a value from a slot. */
const load = (slot: Slot, memory: Memory, address: number): unknown => {
  switch (slot.kind) {
    case 'bool':
      return memory.view.getUint8(address) === 1;
    case 'int':
      return memory.view.getInt32(address, true);
    case 'uint':
    case 'relative':
      return memory.view.getUint32(address, true);
    case 'float':
    case 'compressedFloat':
      return memory.view.getFloat32(address, true);
    default:
      return slot.read(memory, address);
  }
};

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

/** Makes the slot of a kind that {@link store} and {@link load} know. The check throws for a value that does not fit. */
const known = (field: Field<unknown>, size: number, check: Check): Slot =>
  makeSlot(
    size,
    size,
    (_memory, _address, value) => check(value),
    () => undefined,
    field,
  );

/** Makes the slot of a number of 8 bytes, with a check of its value. */
const number = (
  read: (view: DataView, address: number) => number | bigint,
  write: (view: DataView, address: number, value: never) => void,
  check: Check,
): Slot =>
  makeSlot(
    8,
    8,
    (memory, address, value) => {
      check(value);
      write(memory.view, address, value as never);
    },
    (memory, address) => read(memory.view, address),
  );

const checkBool =
  (path: Path): Check =>
  (value) => {
    if (typeof value !== 'boolean') throw wrong(path, value, 'true or false');
  };

const checkFloat =
  (path: Path): Check =>
  (value) => {
    if (typeof value !== 'number') throw wrong(path, value, 'a number');
  };

const checkFinite =
  (path: Path): Check =>
  (value) => {
    if (typeof value !== 'number') throw wrong(path, value, 'a number');
    if (!Number.isFinite(value)) throw new RangeError(`${path.toString()}: ${value} is not finite`);
  };

const checkWhole = ({ min, max }: Field<unknown>, path: Path): Check => {
  const [least, most] = [Number(min), Number(max)];
  return (value) => {
    if (typeof value !== 'number') throw wrong(path, value, 'a number');
    if (!(Number.isInteger(value) && value >= least && value <= most))
      throw new RangeError(
        `${path.toString()}: ${value} is not a whole number from ${min} to ${max}`,
      );
  };
};

const checkBig =
  ({ min, max }: Field<unknown>, path: Path): Check =>
  (value) => {
    if (typeof value !== 'bigint') throw wrong(path, value, 'a bigint');
    if (value < min || value > max)
      throw new RangeError(`${path.toString()}: ${value} is not from ${min} to ${max}`);
  };

const tooLong = (path: Path, size: number, max: number): RangeError =>
  new RangeError(`${path.toString()}: ${size} bytes are more than ${max}`);

/** Makes the slot of a `struct { uint32_t size; uint8_t data[max]; }`. */
const bytesSlot = (max: number, path: Path): Slot =>
  makeSlot(
    Math.ceil((4 + max) / 4) * 4,
    4,
    (memory, address, value) => {
      if (!(value instanceof Uint8Array)) throw wrong(path, value, 'a Uint8Array');
      if (value.length > max) throw tooLong(path, value.length, max);
      memory.view.setUint32(address, value.length, true);
      memory.bytes.set(value, address + 4);
    },
    (memory, address) => memory.copy(address + 4, memory.u32(address)),
  );

/** Makes the slot of a `char[max + 1]`. */
const stringSlot = (max: number, path: Path): Slot =>
  makeSlot(
    max + 1,
    1,
    (memory, address, value) => {
      if (typeof value !== 'string') throw wrong(path, value, 'a string');
      if (value.includes('\0'))
        throw new RangeError(`${path.toString()}: it has the character U+0000`);
      const place = memory.bytes.subarray(address, address + max);
      const { read, written } = encoder.encodeInto(value, place);
      if (read < value.length) throw tooLong(path, encoder.encode(value).length, max);
      memory.bytes[address + written] = 0;
    },
    (memory, address) => {
      const { bytes } = memory;
      return decoder.decode(bytes.subarray(address, bytes.indexOf(0, address)));
    },
  );

/** The slot of a field that has no member. */
const noSlot = makeSlot(
  0,
  1,
  () => {},
  () => undefined,
);

const roundUp = (size: number, alignment: number): number =>
  Math.ceil(size / alignment) * alignment;

/** Makes the slot of a `struct { bool present; value; }`. */
const optionalSlot = (slot: Slot): Slot => {
  const { alignment } = slot;
  const place = roundUp(1, alignment);
  return makeSlot(
    place + slot.size,
    alignment,
    (memory, address, value) => {
      memory.bytes[address] = Number(value !== undefined);
      if (value !== undefined) store(slot, memory, address + place, value);
    },
    (memory, address) =>
      memory.bytes[address] === 1 ? load(slot, memory, address + place) : undefined,
  );
};

/** Makes the slot of a `struct { uint32_t count; items[max]; }`. */
const arraySlot = (slot: Slot, max: number, path: Path): Slot => {
  const alignment = Math.max(4, slot.alignment);
  const place = roundUp(4, slot.alignment);
  return makeSlot(
    roundUp(place + max * slot.size, alignment),
    alignment,
    (memory, address, value) => {
      path.item = -1;
      if (!Array.isArray(value)) throw wrong(path, value, 'an array');
      if (value.length > max)
        throw new RangeError(`${path.toString()}: ${value.length} items are more than ${max}`);
      memory.view.setUint32(address, value.length, true);
      for (let i = 0; i < value.length; i++) {
        path.item = i;
        store(slot, memory, address + place + i * slot.size, value[i]);
      }
    },
    (memory, address) => {
      const items: unknown[] = [];
      const count = memory.u32(address);
      for (let i = 0; i < count; i++)
        items.push(load(slot, memory, address + place + i * slot.size));
      return items;
    },
  );
};

/** Makes the slot of a struct, with its members placed as a C compiler places them. */
const structSlot = (fields: Fields, path: Path): Slot => {
  let end = 0;
  let alignment = 1;
  const places = Object.entries(fields).map(([name, field]) => {
    const slot = slotOf(field, new Path(name, path));
    const offset = roundUp(end, slot.alignment);
    end = offset + slot.size;
    alignment = Math.max(alignment, slot.alignment);
    return { name, offset, slot };
  });
  const members = places.filter(({ slot }) => slot !== noSlot);
  return makeSlot(
    roundUp(end, alignment),
    alignment,
    (memory, address, value) => {
      if (typeof value !== 'object' || value === null) throw wrong(path, value, 'an object');
      const values = value as Record<string, unknown>;
      let next = 0;
      // An engine knows where a property is as long as it goes through them, and they mostly have the order of the fields.
      for (const key in values)
        while (next < members.length) {
          const { name, offset, slot } = members[next++]!;
          store(slot, memory, address + offset, name === key ? values[key] : values[name]);
          if (name === key) break;
        }
      for (; next < members.length; next++) {
        const { name, offset, slot } = members[next]!;
        store(slot, memory, address + offset, values[name]);
      }
    },
    (memory, address) => {
      const value: Record<string, unknown> = {};
      for (const { name, offset, slot } of members) {
        const member = load(slot, memory, address + offset);
        if (member !== undefined) value[name] = member;
      }
      return value;
    },
  );
};

/** Makes the slot of a value that has another form in the core. */
const viewSlot = (slot: Slot, view: View, path: Path): Slot =>
  makeSlot(
    slot.size,
    slot.alignment,
    (memory, address, value) => {
      const kept = view.toCore(value);
      if (kept === undefined) {
        const error = wrong(path, value, view.wanted);
        throw value !== null && typeof value === view.type ? new RangeError(error.message) : error;
      }
      store(slot, memory, address, kept);
    },
    (memory, address) => view.fromCore(load(slot, memory, address) as never),
  );

const plainSlot = (field: Field<unknown>, path: Path): Slot => {
  switch (field.kind) {
    case 'bool':
      return known(field, 1, checkBool(path));
    case 'int':
    case 'uint':
    case 'relative':
      return known(field, 4, checkWhole(field, path));
    case 'float':
      return known(field, 4, checkFloat(path));
    case 'compressedFloat':
      return known(field, 4, checkFinite(path));
    case 'int64':
      return number(
        (view, at) => view.getBigInt64(at, true),
        (view, at, value) => view.setBigInt64(at, value, true),
        checkBig(field, path),
      );
    case 'uint64':
      return number(
        (view, at) => view.getBigUint64(at, true),
        (view, at, value) => view.setBigUint64(at, value, true),
        checkBig(field, path),
      );
    case 'double':
      return number(
        (view, at) => view.getFloat64(at, true),
        (view, at, value) => view.setFloat64(at, value, true),
        checkFloat(path),
      );
    case 'bytes':
      return bytesSlot(Number(field.max), path);
    case 'string':
      return stringSlot(Number(field.max), path);
    case 'struct':
      return structSlot(field.fields!, path);
    case 'align':
    case 'constant':
      return noSlot;
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
  write(number: number, address: number, value: object): void {
    this.#types[number]!.slot.write(this.core.memory, address, value);
  }

  read(number: number, address: number): Record<string, unknown> {
    return this.#types[number]!.slot.read(this.core.memory, address) as Record<string, unknown>;
  }
}
