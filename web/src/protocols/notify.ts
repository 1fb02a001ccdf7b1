import { ProtocolEnd, type ProtocolCore } from './module.js';
import {
  NOTIFY_HEADER_SIZE,
  notifyConfigStruct,
  notifyEventStruct,
  notifyEventTypes,
  notifyStatsStruct,
  type NotifyConfig,
  type NotifyStats,
} from './generated.js';

/** The events of an end of {@link Notify}. */
export type NotifyEvent =
  /** A packet of ours was delivered (`ack`), or was lost or refused (`nak`). */
  | { readonly type: 'ack' | 'nak'; readonly sequence: number }
  /** A packet of the other end, which is acked when it is taken. */
  | { readonly type: 'packet'; readonly sequence: number; readonly data: Uint8Array<ArrayBuffer> };

/** Returns the longest datagram of a config that is in the module's memory. @internal */
export const notifyCapacity = (core: ProtocolCore, config: number): number =>
  NOTIFY_HEADER_SIZE + core.memory.struct(config, notifyConfigStruct.fields).maxPacketSize;

/** One end of packet notification: the sender is told of each packet, once and in order, whether it was delivered. */
export class Notify extends ProtocolEnd<NotifyEvent> {
  /** @throws {@link MisuseError} `CONFIG` when the config cannot work. */
  constructor(core: ProtocolCore, config: NotifyConfig = {}) {
    const at = core.configure(notifyConfigStruct, config, core.exports.cw_notify_config_default);
    super(core, 'notify', at, notifyCapacity(core, at));
  }

  protected override get events() {
    return { struct: notifyEventStruct, types: notifyEventTypes };
  }

  /** The number of packets that may be sent until their fates are taken. */
  get room(): number {
    return this.core.exports.cw_notify_room(this.address);
  }

  /**
   * Makes the next packet and returns its number. Call `transmit` before the next one.
   * @throws {@link MisuseError} `TOO_LARGE`, `TRANSMIT_PENDING`, or `EVENTS_PENDING` when there is no room
   */
  send(payload: Uint8Array): number {
    const { core, address } = this;
    const { exports, memory, scratch } = core;
    core.check(this.put(payload, (at, size) => exports.cw_notify_send(address, at, size, scratch)));
    return memory.view.getUint16(scratch, true);
  }

  /** Refuses the packet that `next` returned last: its sender gets a nak. It does nothing after any other call. */
  refuse(): void {
    this.core.exports.cw_notify_refuse(this.address);
  }

  /** Ends a round of receives, once per tick: packets that came early wait no longer. */
  update(): void {
    this.core.exports.cw_notify_update(this.address);
  }

  stats(): NotifyStats {
    const { core, address } = this;
    return core.read(notifyStatsStruct, (out) => core.exports.cw_notify_get_stats(address, out));
  }
}
