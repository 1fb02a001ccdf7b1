import type { Delivery } from './channels.js';
import { OPERATIONS } from './expression.js';
import { checkFields, kinds, type Fields, type Values } from './fields.js';
import type { RequestPart, RequestType } from './request.js';

/** A type of message, made with {@link message}. */
export interface MessageType<
  Name extends string = string,
  Of extends Fields = Fields,
  Block extends boolean = boolean,
> {
  readonly name: Name;
  readonly fields: Of;
  /** True when every message of the type carries a block. */
  readonly block: Block;
  /** The way in which its messages go. @internal */
  readonly delivery: Delivery;
}

/** The options of a type of messages: what goes along, and how. Both ends must agree on the kinds of channels. */
export interface MessageOptions<Block extends boolean = boolean> {
  /** True when every message of the type carries a block. Default false. */
  readonly block?: Block;
  /** True: every message arrives, once, in the order of sending. Default false: it is sent once, and may be lost or overtaken. */
  readonly reliable?: boolean;
  /** True: a reliable message arrives as soon as its packet does, and waits for no earlier one. Default false. */
  readonly unordered?: boolean;
  /** True: a message that is not reliable is dropped when a later one has arrived. Default false. */
  readonly sequenced?: boolean;
  /** Instead of the three above, for servers with `channels` of their own: the number of the channel. */
  readonly channel?: number;
}

/** The types of messages that two peers exchange. Both must have the same ones in the same order. */
export interface Schema<Types extends readonly MessageType[] = readonly MessageType[]> {
  readonly types: Types;
  /** The bytes that the core gets. @internal */
  readonly encoded: Uint8Array<ArrayBuffer>;
}

/** The names of a schema's messages. */
export type MessageName<Of extends Schema> = Exclude<Of['types'][number], RequestPart>['name'];

type TypeNamed<Of extends Schema, Name> = Extract<Of['types'][number], { readonly name: Name }>;

/** The value that a message of a type holds: `MessageValue<typeof schema, 'move'>`. */
export type MessageValue<Of extends Schema, Name extends MessageName<Of>> =
  TypeNamed<Of, Name> extends MessageType<string, infer Its> ? Values<Its> : never;

/** The arguments that follow the value when a message is sent: the block, if its type carries one. */
export type MessageBlock<Of extends Schema, Name extends MessageName<Of>> = TypeNamed<
  Of,
  Name
>['block'] extends true
  ? [block: Uint8Array]
  : TypeNamed<Of, Name>['block'] extends false
    ? []
    : [block?: Uint8Array];

/** The arguments that send a message: its type and value, and its block if its type carries one. */
export type MessageArguments<Of extends Schema, Name extends MessageName<Of>> = [
  type: Name,
  value: MessageValue<Of, Name>,
  ...block: MessageBlock<Of, Name>,
];

/**
 * Declares a type of message by its fields, in the order in which they go over the wire:
 * `message('move', { x: f32(), direction: int(0, 7), name: string(32) })`. Its messages are sent once, unless the options
 * say that they are reliable: `message('say', { text: string(200) }, { reliable: true })`.
 */
export const message = <
  Name extends string,
  const Of extends Fields,
  const Block extends boolean = false,
>(
  name: Name,
  fields: Of,
  options: MessageOptions<Block> = {},
): MessageType<Name, Of, Block> => {
  checkFields(name, fields);
  const { block = false as Block } = options;
  return { name, fields, block, delivery: deliveryOf(name, options) };
};

/** @throws TypeError for options that contradict each other */
function deliveryOf(
  name: string,
  { block, reliable = false, unordered = false, sequenced = false, channel }: MessageOptions,
): Delivery {
  if (channel !== undefined) {
    if (reliable || unordered || sequenced)
      throw new TypeError(`${name}: its \`channel\` says how it goes; name nothing else`);
    return channel;
  }
  if (reliable && sequenced) throw new TypeError(`${name}: only unreliable messages are sequenced`);
  if (unordered && !reliable) throw new TypeError(`${name}: only reliable messages are unordered`);
  if (reliable && block) return 'blocks';
  if (reliable) return unordered ? 'reliableUnordered' : 'reliable';
  return sequenced ? 'unreliableSequenced' : 'unreliable';
}

/** The types of messages that stand for what is declared: three for a request. */
type TypesOf<Declared extends readonly (MessageType | RequestType)[]> =
  Declared extends readonly MessageType[]
    ? Declared
    : readonly (
        | Extract<Declared[number], MessageType>
        | Extract<Declared[number], RequestType>['parts'][number]
      )[];

/** Puts types of messages and requests together; the order is their number on the wire. */
export const schema = <const Declared extends readonly (MessageType | RequestType)[]>(
  ...declared: Declared
): Schema<TypesOf<Declared>> => {
  const types = declared.flatMap((one: MessageType | RequestType): readonly MessageType[] =>
    one && 'parts' in one ? one.parts : [one],
  );
  if (types.some((type) => !type?.fields))
    throw new TypeError('a schema is made of messages, as schema(message(...), message(...))');
  const names = new Set(types.map((type) => type.name));
  if (types.length === 0) throw new RangeError('a schema needs at least one type');
  if (names.size < types.length) throw new RangeError('two types of a schema have the same name');
  return { types: types as readonly MessageType[] as TypesOf<Declared>, encoded: encode(types) };
};

/** Encodes the types in the form that core/include/causeway/schema.h describes. */
function encode(types: readonly MessageType[]): Uint8Array<ArrayBuffer> {
  const result: number[] = [];
  const u8 = (value: number): unknown => result.push(value);
  const view = new DataView(new ArrayBuffer(8));
  const put = (size: number): void => {
    for (let i = 0; i < size; i++) result.push(view.getUint8(i));
  };
  const u32 = (value: number): void => (view.setUint32(0, value, true), put(4));
  const u64 = (value: bigint): void => (
    view.setBigUint64(0, BigInt.asUintN(64, value), true),
    put(8)
  );
  const f32 = (value: number): void => (view.setFloat32(0, value, true), put(4));
  const text = (value: string): void => {
    if (value.includes('\0')) throw new RangeError('a name cannot have the character U+0000');
    result.push(...new TextEncoder().encode(value), 0);
  };

  const putFields = (fields: Fields): void => {
    const entries = Object.entries(fields);
    u32(entries.length);
    for (const [index, [name, field]] of entries.entries()) {
      const { kind, min, max, low, high, resolution, count, operand } = field;
      text(name);
      u8(kinds[kind]);
      u8(
        Number(field.optional) +
          2 * Number(count !== undefined) +
          4 * Number(operand !== undefined),
      );
      u32(field.array);
      if (field.fields) putFields(field.fields);
      else if (kind === 'bytes' || kind === 'string' || kind === 'relative') u32(Number(max));
      else if (kind === 'compressedFloat') [low, high, resolution].forEach(f32);
      else if (kind.includes('int') || kind === 'constant') [min, max].forEach(u64);
      const earlier = entries.slice(0, index);
      for (const expression of [count, operand])
        if (expression !== undefined) result.push(...field[OPERATIONS]!(name, expression, earlier));
    }
  };

  u8(1);
  u32(types.length);
  for (const type of types) {
    text(type.name);
    u8(Number(type.block));
    putFields(type.fields);
  }
  return new Uint8Array(result);
}
