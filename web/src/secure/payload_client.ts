import { CoreObject, type Core } from '../core.js';
import {
  DATAGRAM_MAX,
  SECURE_PACKET_MAX,
  netcodeClientConfigStruct,
  netcodeClientEventAt,
  netcodeClientEvents,
} from '../generated.js';
import { Outgoing } from '../memory.js';
import type { Policy } from './policy.js';
import { beginToConnect, explain, stateNumber, stateOf, type ClientState } from './core_client.js';

/** This client carries the application's own bytes, like `cw_netcode_client` in C. */
export class PayloadClient extends CoreObject {
  readonly #incoming: number;
  readonly #outgoing: Outgoing;

  constructor(core: Core) {
    const { exports } = core;
    const create = exports.cw_netcode_client_create;
    const defaults = exports.cw_netcode_client_config_default;
    const client = core.create(netcodeClientConfigStruct, {}, defaults, create);
    super(core, client, exports.cw_netcode_client_destroy);
    this.#incoming = this.buffer(DATAGRAM_MAX);
    this.#outgoing = new Outgoing(core.memory, this.buffer(SECURE_PACKET_MAX));
  }

  connect(token: Uint8Array, now: number): void {
    const { core, address } = this;
    beginToConnect(core, token, (copy, size) =>
      core.exports.cw_netcode_client_connect(address, copy, size, now),
    );
  }

  /** Like that of `Client`. */
  tell(policy: Policy): void {
    policy.follow(stateNumber(this.core, this.address), this.serverIndex);
  }

  get state(): ClientState {
    return stateOf(this.core, this.address);
  }

  explain(): string {
    return explain(this.core, this.address);
  }

  /** Like that of `Client`. */
  get serverIndex(): number {
    return this.core.exports.cw_netcode_client_server_index(this.address);
  }

  /** Like that of `Client`. */
  tryServer(index: number, now: number): void {
    this.core.check(this.core.exports.cw_netcode_client_try_server(this.address, index, now));
  }

  /**
   * Takes a datagram; take the payload with {@link next} before the following one.
   * @returns whether it was one of this connection
   */
  receive(datagram: Uint8Array, now: number): boolean {
    const size = this.core.memory.put(datagram, this.#incoming, DATAGRAM_MAX);
    return (
      this.core.exports.cw_netcode_client_receive(this.address, 0, this.#incoming, size, now) === 0
    );
  }

  next(): Uint8Array<ArrayBuffer> | undefined {
    const { exports, memory, scratch } = this.core;
    while (exports.cw_netcode_client_next(this.address, scratch)) {
      if (memory.u32(scratch + netcodeClientEventAt.type) !== netcodeClientEvents.PAYLOAD) continue;
      const payload = memory.u32(scratch + netcodeClientEventAt.payload);
      return memory.copy(payload, memory.u32(scratch + netcodeClientEventAt.size));
    }
    return undefined;
  }

  /** Makes a packet of a payload of up to 1200 bytes; then {@link transmit} it. */
  send(payload: Uint8Array): void {
    const { exports, memory } = this.core;
    const place = this.#outgoing.address;
    memory.bytes.set(payload, place);
    this.core.check(exports.cw_netcode_client_send(this.address, place, payload.length));
  }

  update(now: number): void {
    this.core.exports.cw_netcode_client_update(this.address, now);
  }

  transmit(now: number): Uint8Array<ArrayBuffer> | undefined {
    return this.transmitView(now)?.slice();
  }

  /** @internal */
  transmitView(now: number): Uint8Array<ArrayBuffer> | undefined {
    const { exports } = this.core;
    const out = this.#outgoing;
    const size = exports.cw_netcode_client_transmit(
      this.address,
      out.address,
      SECURE_PACKET_MAX,
      now,
      0,
    );
    return size > 0 ? out.view(size) : undefined;
  }

  /** Like that of `Client`. */
  move(now: number): void {
    this.core.check(this.core.exports.cw_netcode_client_move(this.address, now));
  }

  disconnect(): void {
    this.core.exports.cw_netcode_client_disconnect(this.address);
  }
}
