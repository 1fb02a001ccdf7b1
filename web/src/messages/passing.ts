import type { Core } from '../core.js';
import { connectionEvents, connectionNews, createdMessage } from '../generated.js';
import type { CoreSchema } from './codec.js';
import type { Schema } from './schema.js';
import type { ConnectionEvent, Message } from './types.js';

/** A message on its way into the module. */
interface Outgoing {
  readonly type: string;
  readonly value: Readonly<Record<string, unknown>>;
  readonly block: Uint8Array | undefined;
}

/** Throws a RangeError that says which channels there are. */
export function checkChannel(channel: number, count: number): void {
  if (Number.isInteger(channel) && channel >= 0 && channel < count) return;
  throw new RangeError(`${String(channel)} is no channel; there are 0 to ${count - 1}`);
}

/**
 * Has the module make a message, fills it in and hands it over.
 * @param create makes a message of a type, by its number, and leaves it in the scratch area; returns an error
 * @param send takes the message over, unless it returns an error
 */
export function writeMessage(
  core: Core,
  schema: CoreSchema,
  { type, value, block }: Outgoing,
  create: (number: number) => number,
  send: (message: number) => number,
): void {
  const { exports, memory, scratch } = core;
  const number = schema.number(type);
  core.check(create(number));
  const message = memory.u32(scratch + createdMessage.message);
  try {
    schema.write(number, memory.u32(scratch + createdMessage.data), value);
    if (block) attach(core, message, block);
    core.check(send(message));
  } catch (error) {
    exports.message_release(message);
    throw error;
  }
}

function attach(core: Core, message: number, block: Uint8Array): void {
  const place = core.exports.message_attach(message, block.length);
  if (place === 0) throw core.error('NO_MEMORY');
  core.memory.bytes.set(block, place);
}

/** Reads the event of a connection that the module has just returned. */
export function readEvent<Of extends Schema>(
  core: Core,
  schema: CoreSchema,
  type: number,
): ConnectionEvent<Of> | undefined {
  const { memory, scratch } = core;
  switch (type) {
    case connectionEvents.MESSAGE:
      return { type: 'message', message: takeMessage(core, schema) };
    case connectionEvents.ACKED:
      return { type: 'acked', receipt: memory.u32(scratch + connectionNews.receipt) };
    case connectionEvents.LOST:
      return { type: 'lost', receipt: memory.u32(scratch + connectionNews.receipt) };
    default:
      return undefined;
  }
}

/** Reads the message that the module has just returned, and releases it. */
function takeMessage<Of extends Schema>(
  { exports, memory, scratch }: Core,
  schema: CoreSchema,
): Message<Of> {
  const number = memory.u32(scratch + connectionNews.type);
  const block = memory.u32(scratch + connectionNews.block);
  const message = memory.u32(scratch + connectionNews.message);
  try {
    const type = schema.name(number);
    const value = schema.read(number, memory.u32(scratch + connectionNews.data));
    const channel = memory.u32(scratch + connectionNews.channel);
    if (block === 0) return { type, value, channel } as unknown as Message<Of>;
    const size = memory.u32(scratch + connectionNews.blockSize);
    return { type, value, channel, block: memory.copy(block, size) } as unknown as Message<Of>;
  } finally {
    exports.message_release(message);
  }
}
