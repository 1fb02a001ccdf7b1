import { CoreObject, type Core } from '../core.js';
import { DATAGRAM_MAX, SECURE_PACKET_MAX, createdFields } from '../generated.js';
import type { Policy } from './policy.js';
import { beginToConnect, explain, stateOf, type ClientState } from './core_client.js';

/** A client whose payloads are the application's own bytes: `cw_client` of C without a connection. */
export class PayloadClient extends CoreObject {
  readonly #incoming: number;
  readonly #outgoing: number;

  constructor(core: Core) {
    core.check(core.exports.client_create(0, 0, 0));
    super(
      core,
      core.memory.struct(core.scratch, createdFields).object,
      core.exports.client_destroy,
    );
    this.#incoming = this.buffer(DATAGRAM_MAX);
    this.#outgoing = this.buffer(SECURE_PACKET_MAX);
  }

  connect(token: Uint8Array, now: number): void {
    beginToConnect(this.core, this.address, token, now);
  }

  /** Like that of `Client`. */
  tell(policy: Policy): void {
    policy.follow(this.address);
  }

  get state(): ClientState {
    return stateOf(this.core, this.address);
  }

  explain(): string {
    return explain(this.core, this.address);
  }

  /** Like that of `Client`. */
  get serverIndex(): number {
    return this.core.exports.client_server_index(this.address);
  }

  /** Like that of `Client`. */
  tryServer(index: number, now: number): void {
    this.core.check(this.core.exports.client_try_server(this.address, index, now));
  }

  /**
   * Takes a datagram; take the payload with {@link next} before the following one.
   * @returns whether it was one of this connection
   */
  receive(datagram: Uint8Array, now: number): boolean {
    const size = this.core.memory.put(datagram, this.#incoming, DATAGRAM_MAX);
    return this.core.exports.client_receive(this.address, this.#incoming, size, now) === 0;
  }

  next(): Uint8Array<ArrayBuffer> | undefined {
    const { exports, memory, scratch } = this.core;
    const size = exports.client_next_payload(this.address);
    return size > 0 ? memory.copy(memory.u32(scratch), size) : undefined;
  }

  /** Makes a packet of a payload of up to 1200 bytes; then {@link transmit} it. */
  send(payload: Uint8Array): void {
    this.core.memory.bytes.set(payload, this.#outgoing);
    this.core.check(this.core.exports.client_send(this.address, this.#outgoing, payload.length));
  }

  update(now: number): void {
    this.core.exports.client_update(this.address, now);
  }

  transmit(now: number): Uint8Array<ArrayBuffer> | undefined {
    const { exports, memory } = this.core;
    const size = exports.client_transmit(this.address, this.#outgoing, SECURE_PACKET_MAX, now);
    return size > 0 ? memory.copy(this.#outgoing, size) : undefined;
  }

  /** Like that of `Client`. */
  move(now: number): void {
    this.core.check(this.core.exports.client_move(this.address, now));
  }

  disconnect(): void {
    this.core.exports.client_disconnect(this.address);
  }
}
