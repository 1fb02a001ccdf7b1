import { ProtocolEnd, type ProtocolCore } from './module.js';
import {
  rudpConfigStruct,
  rudpEventStruct,
  rudpEventTypes,
  rudpStatsStruct,
  type RudpConfig,
  type RudpStats,
} from './generated.js';

/** The events of an end of {@link Rudp}. `id` is the number of packages before this one. */
export type RudpEvent =
  /** The next package. */
  | { readonly type: 'package'; readonly id: number; readonly data: Uint8Array<ArrayBuffer> }
  /** The next package expired before it was asked for, and will never come. */
  | { readonly type: 'missing'; readonly id: number }
  /** The other end got a datagram from here that made no sense to it. The stream goes on. */
  | { readonly type: 'corrupt' };

/** One end of request-based resending: the sender keeps packages, and the receiver asks for missing ones. */
export class Rudp extends ProtocolEnd<RudpEvent> {
  /** @throws {@link MisuseError} `CONFIG` when the config cannot work. */
  constructor(core: ProtocolCore, config: RudpConfig = {}) {
    const at = core.configure(rudpConfigStruct, config, core.exports.cw_rudp_config_default);
    const { datagramSize, maxPackageSize } = core.memory.struct(at, rudpConfigStruct.fields);
    super(core, 'rudp', at, Math.max(datagramSize, maxPackageSize + 4));
  }

  protected override get events() {
    return { struct: rudpEventStruct, types: rudpEventTypes };
  }

  /**
   * Queues a package for the next round.
   * @throws {@link MisuseError} `TOO_LARGE`; {@link ConnectionError} `QUEUE_FULL` when as many wait or are kept as
   *   `sendWindow` says
   */
  send(data: Uint8Array): void {
    const { core, address } = this;
    core.check(this.put(data, (at, size) => core.exports.cw_rudp_send(address, at, size)));
  }

  /** Lets ticks pass, and begins a round of sending when one is due. Then call `transmit`. */
  update(ticks = 1): void {
    this.core.exports.cw_rudp_update(this.address, ticks);
  }

  stats(): RudpStats {
    const { core, address } = this;
    return core.read(rudpStatsStruct, (out) => core.exports.cw_rudp_get_stats(address, out));
  }
}
