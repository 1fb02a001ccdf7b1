import { ProtocolEnd, type ProtocolCore } from './module.js';
import {
  bunchConfigAt,
  bunchConfigStruct,
  bunchEventStruct,
  bunchEventTypes,
  bunchStatsAt,
  bunchStatsStruct,
  notifyConfigStruct,
  notifyStatsStruct,
  type BunchConfig as OwnConfig,
  type BunchStats as OwnStats,
  type NotifyConfig,
  type NotifyStats,
} from './generated.js';
import { notifyCapacity } from './notify.js';

/** Both ends must agree on all of this, except `bytesPerSecond`. */
export interface BunchConfig extends OwnConfig {
  /** The config of the packets. */
  readonly notify?: NotifyConfig;
}

export interface BunchStats extends Omit<OwnStats, 'notify'> {
  /** The figures of the packets. */
  readonly notify: NotifyStats;
}

/** An event of an end of {@link Bunch}: what arrived. */
export interface BunchEvent {
  /**
   * `bunch`: the next bunch of a channel; `unreliable`: an unreliable one; `property`: a value of a property, of which
   * older ones may have been skipped.
   */
  readonly type: 'bunch' | 'property' | 'unreliable';
  /** The number of the channel, or of the property. */
  readonly number: number;
  readonly data: Uint8Array<ArrayBuffer>;
}

/** One end of packet notification with bunches, which are sent again, and properties, whose newest value counts. */
export class Bunch extends ProtocolEnd<BunchEvent> {
  /** @throws {@link MisuseError} `CONFIG` when the config cannot work. */
  constructor(core: ProtocolCore, config: BunchConfig = {}) {
    const at = core.configure(bunchConfigStruct, config, core.exports.cw_bunch_config_default);
    core.memory.setConfig(at + bunchConfigAt.notify, notifyConfigStruct, config.notify ?? {});
    super(core, 'bunch', at, notifyCapacity(core, at + bunchConfigAt.notify));
  }

  protected override get events() {
    return { struct: bunchEventStruct, types: bunchEventTypes };
  }

  /**
   * Queues a bunch on a channel, where bunches arrive in order.
   * @throws {@link ConnectionError} `QUEUE_FULL`; {@link MisuseError} `TOO_LARGE`, `INVALID_ARGUMENT` for a channel that is not there
   */
  send(channel: number, data: Uint8Array): void {
    const { core, address } = this;
    core.check(
      this.put(data, (at, size) => core.exports.cw_bunch_send(address, channel, at, size)),
    );
  }

  /** Queues a bunch that is sent once. @throws as `send` */
  sendUnreliable(channel: number, data: Uint8Array): void {
    const { core, address } = this;
    const { cw_bunch_send_unreliable: send } = core.exports;
    core.check(this.put(data, (at, size) => send(address, channel, at, size)));
  }

  /**
   * Gives a property a new value, which is sent until it is known to have arrived or there is a newer one.
   * @throws {@link MisuseError} `TOO_LARGE`, or `INVALID_ARGUMENT` for a property that is not there
   */
  set(property: number, data: Uint8Array): void {
    const { core, address } = this;
    core.check(
      this.put(data, (at, size) => core.exports.cw_bunch_set(address, property, at, size)),
    );
  }

  /** Ends a round of receives and lets time pass, in seconds. Then take the events, then call `transmit`. */
  update(now: number): void {
    this.core.exports.cw_bunch_update(this.address, now);
  }

  stats(): BunchStats {
    const { core, address } = this;
    const { exports, memory, scratch } = core;
    const own = core.read(bunchStatsStruct, (out) => exports.cw_bunch_get_stats(address, out));
    return {
      ...own,
      notify: memory.struct(scratch + bunchStatsAt.notify, notifyStatsStruct.fields),
    };
  }
}
