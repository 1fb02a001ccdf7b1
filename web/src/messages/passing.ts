import type { Core } from '../core.js';
import { connectionEvents, messageAt, unanswereds } from '../generated.js';
import type { CoreSchema } from './codec.js';
import type { Schema } from './schema.js';
import type { ConnectionEvent, Message, Unanswered } from './types.js';

/** Throws a RangeError that says which channels there are. */
export function checkChannel(channel: number, count: number): void {
  if (Number.isInteger(channel) && channel >= 0 && channel < count) return;
  throw new RangeError(`${String(channel)} is no channel; there are 0 to ${count - 1}`);
}

/**
 * Fills in the message that the module has just made, whose address is in the scratch area. The result of the function
 * that takes it then goes to {@link handedOver}.
 * @param type the number of the type
 * @param receipt the number under which the fate of the message is told; 0 for none
 * @returns the address of the message
 */
export function fillMessage(
  core: Core,
  schema: CoreSchema,
  type: number,
  value: object,
  block?: Uint8Array,
  receipt = 0,
): number {
  const { memory, scratch } = core;
  const message = memory.u32(scratch);
  try {
    schema.write(type, memory.u32(message + messageAt.data), value);
    if (block) attach(core, message, block);
    if (receipt) memory.setU32(message + messageAt.receipt, receipt);
    return message;
  } catch (error) {
    core.exports.cw_message_release(message);
    throw error;
  }
}

/** Releases a message and throws if the function that should have taken it returned the negative number of an error. */
export function handedOver(core: Core, message: number, result: number): number {
  if (result >= 0) return result;
  core.exports.cw_message_release(message);
  throw core.error(-result);
}

function attach(core: Core, message: number, block: Uint8Array): void {
  const place = core.exports.message_attach(message, block.length);
  if (place === 0) throw core.error('NO_MEMORY');
  core.memory.bytes.set(block, place);
}

/** The offsets of what an event of a connection has, in the struct of the event. */
interface EventOffsets {
  readonly type: number;
  readonly message: number;
  readonly channel: number;
  readonly receipt: number;
  readonly request: number;
  readonly unanswered: number;
  readonly code: number;
}

const reasons: Record<keyof typeof unanswereds, Unanswered> = {
  1: 'timedOut',
  2: 'refused',
  3: 'closed',
};

/** Reads the event in the scratch area if it is one of a connection. */
export function readEvent<Of extends Schema>(
  core: Core,
  schema: CoreSchema,
  at: EventOffsets,
): ConnectionEvent<Of> | undefined {
  const { memory, scratch } = core;
  const type = memory.u32(scratch + at.type);
  switch (type) {
    case connectionEvents.MESSAGE: {
      const channel = memory.u32(scratch + at.channel);
      const message = memory.u32(scratch + at.message);
      return { type: 'message', message: takeMessage(core, schema, message, channel) };
    }
    case connectionEvents.ACKED:
      return { type: 'acked', receipt: memory.u32(scratch + at.receipt) };
    case connectionEvents.LOST:
      return { type: 'lost', receipt: memory.u32(scratch + at.receipt) };
    default:
      return readRequest(core, schema, at, type) as ConnectionEvent<Of> | undefined;
  }
}

/** Reads the event if it is one of a request. */
function readRequest(
  core: Core,
  schema: CoreSchema,
  at: EventOffsets,
  type: number,
): object | undefined {
  const read = (offset: number): number => core.memory.u32(core.scratch + offset);
  const [request, channel] = [read(at.request), read(at.channel)];
  switch (type) {
    case connectionEvents.REQUEST: {
      const question = takeMessage<Schema>(core, schema, read(at.message), channel);
      return {
        type: 'request',
        request,
        question: { type: question.type, value: own(question.value), channel },
      };
    }
    case connectionEvents.ANSWER: {
      const { value } = takeMessage<Schema>(core, schema, read(at.message), channel);
      return { type: 'answer', request, value: own(value) };
    }
    case connectionEvents.UNANSWERED: {
      const reason = reasons[`${read(at.unanswered)}` as keyof typeof unanswereds];
      return { type: 'unanswered', request, reason, code: read(at.code) };
    }
    default:
      return undefined;
  }
}

/** Returns the value of a question or an answer as the application sees it. */
const own = ({ cw_request: _asking, cw_answer: _answering, ...value }: Record<string, unknown>) =>
  value;

/** Reads a message that the module has handed over, and releases it. */
function takeMessage<Of extends Schema>(
  { exports, memory }: Core,
  schema: CoreSchema,
  address: number,
  channel: number,
): Message<Of> {
  const number = memory.u32(address + messageAt.type);
  const block = memory.u32(address + messageAt.block);
  try {
    const type = schema.name(number);
    const value = schema.read(number, memory.u32(address + messageAt.data));
    if (block === 0) return { type, value, channel } as unknown as Message<Of>;
    const size = memory.u32(address + messageAt.blockSize);
    return { type, value, channel, block: memory.copy(block, size) } as unknown as Message<Of>;
  } finally {
    exports.cw_message_release(address);
  }
}
