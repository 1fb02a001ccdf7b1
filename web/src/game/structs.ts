import { CoreSchema } from '../messages/codec.js';
import type { Schema } from '../messages/schema.js';

import type { GameCore } from './module.js';

const schemas = new WeakMap<GameCore, WeakMap<Schema, CoreSchema>>();

/** Returns the schema in the module: one for all objects that use it. */
export function schemaIn(core: GameCore, schema: Schema): CoreSchema {
  let known = schemas.get(core);
  if (!known) schemas.set(core, (known = new WeakMap()));
  let made = known.get(schema);
  if (!made) known.set(schema, (made = new CoreSchema(core, schema)));
  return made;
}

/** Reads and writes the structs of one type of a schema, as plain objects. */
export class StructOf<Value> {
  readonly number: number;
  readonly #schema: CoreSchema;
  readonly size: number;

  constructor(core: GameCore, schema: Schema, name: string) {
    this.#schema = schemaIn(core, schema);
    this.number = this.#schema.number(name);
    this.size = core.exports.cw_schema_message_size(this.#schema.pointer);
  }

  get schema(): number {
    return this.#schema.pointer;
  }

  write(address: number, value: Value): void {
    this.#schema.write(this.number, address, value as Record<string, unknown>);
  }

  read(address: number): Value {
    return this.#schema.read(this.number, address) as Value;
  }
}
