// The body of a message as bytes, written and read by nothing but the package.
import assert from 'node:assert/strict';
import { Connection, Endpoint, message, schema, unreliable } from './causeway.mjs';

// A packet has one message of one of 32 types: exactly a byte goes before its body, a bit each for the channel's entry,
// the block and the message, and five for the type.
const channels = [unreliable({ maxMessagesPerPacket: 1 })];
const others = Array.from({ length: 31 }, (_, i) => message(`other ${i}`, {}));
const BEFORE = 0b00000_1_0_1;

/** Writes and reads bodies with these fields. */
export class Bodies {
  #connection;
  #endpoint;

  constructor(core, fields) {
    const types = schema(message('body', fields), ...others);
    this.#connection = new Connection(core, types, { channels });
    this.#endpoint = new Endpoint(core);
  }

  write(value) {
    this.#connection.send(0, 'body', value, 0);
    this.#connection.update(0);
    assert.equal(this.#endpoint.receive(this.#connection.transmit(0), 0), 'ok');
    const [packet] = [...this.#endpoint.events()].filter(({ type }) => type === 'packet');
    this.#endpoint.accept(packet.sequence);
    assert.equal(packet.payload[0], BEFORE);
    return packet.payload.subarray(1);
  }

  /** Returns the value in the bytes, `undefined` when they are refused. */
  read(bytes) {
    this.#endpoint.send(Uint8Array.of(BEFORE, ...bytes), 0);
    if (!this.#connection.receive(this.#endpoint.transmit(0), 0)) return undefined;
    return this.#connection.next().message.value;
  }

  destroy() {
    this.#connection.destroy();
    this.#endpoint.destroy();
  }
}

/** Makes such a body for one use, and closes it afterwards. */
export const withBodies = (core, fields, use) => {
  const bodies = new Bodies(core, fields);
  try {
    return use(bodies);
  } finally {
    bodies.destroy();
  }
};

const view = new DataView(new ArrayBuffer(8));

/** Returns the float or double that has these bits, in hex. */
export const floatOf = (hex) => (view.setUint32(0, parseInt(hex, 16)), view.getFloat32(0));
export const doubleOf = (hex) => (view.setBigUint64(0, BigInt(`0x${hex}`)), view.getFloat64(0));
