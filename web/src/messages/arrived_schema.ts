import type { Field, Fields, Kind } from './fields.js';
import type { Schema } from './schema.js';
import {
  SLOT,
  arraySlot,
  boolSlot,
  bytesSlot,
  compressedFloatSlot,
  doubleSlot,
  floatSlot,
  int64Slot,
  noSlot,
  optionalSlot,
  stringSlot,
  structSlot,
  uint64Slot,
  wholeSlot,
  type SlotMaker,
} from './slots.js';

const makers: Record<Kind, (field: Field<unknown>) => SlotMaker> = {
  bool: () => boolSlot,
  int: (field) => wholeSlot(field, 'int'),
  uint: (field) => wholeSlot(field, 'uint'),
  int64: int64Slot,
  uint64: uint64Slot,
  float: () => floatSlot,
  double: () => doubleSlot,
  compressedFloat: () => compressedFloatSlot,
  bytes: bytesSlot,
  string: stringSlot,
  struct: ({ fields }) => {
    const its = complete(fields!);
    return (path) => structSlot(its, path);
  },
  align: () => noSlot,
  relative: (field) => wholeSlot(field, 'relative'),
  constant: () => noSlot,
};

const slotOf = (field: Field<unknown>): SlotMaker => {
  const { array, optional } = field;
  const plain = makers[field.kind](field);
  if (optional) return (path) => optionalSlot(plain(path));
  return array > 0 ? (path) => arraySlot(plain(path), array, path) : plain;
};

const complete = (fields: Fields): Fields =>
  Object.fromEntries(
    Object.entries(fields).map(([name, field]) => [name, { ...field, [SLOT]: slotOf(field) }]),
  );

/** Returns a schema that has come from another thread, with the functions of its fields, which stayed there. */
export const arrivedSchema = <Of extends Schema>(schema: Of): Of => ({
  ...schema,
  types: schema.types.map((type) => ({ ...type, fields: complete(type.fields) })),
});
