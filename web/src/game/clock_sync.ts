import { GameObject, type GameCore } from './module.js';
import {
  clockEchoStruct,
  clockSyncConfigStruct,
  clockSyncEventStruct,
  clockSyncEventTypes,
  clockSyncStatsStruct,
  type ClockSyncConfig,
  type ClockSyncStats,
} from './generated.js';

/** Bytes of a stamp and of an echo: the sizes of the header. */
const ROOM = 16;

/** What a client does next: run a tick, or forget what it has predicted because its ticks have jumped. */
export interface ClockSyncEvent {
  readonly type: 'tick' | 'restart';
  readonly tick: number;
}

/**
 * The server's time at the client, in ticks, and the client's own ticks, which run ahead of it so that
 * the input for a tick reaches the server just before the server needs it.
 */
export class ClockSync extends GameObject {
  /** @throws {@link CoreError} `CONFIG` when the config cannot work. */
  constructor(core: GameCore, config: ClockSyncConfig = {}) {
    const { exports } = core;
    super(
      core,
      core.create(
        clockSyncConfigStruct,
        config,
        exports.cw_clock_sync_config_default,
        exports.cw_clock_sync_create,
      ),
      exports.cw_clock_sync_destroy,
    );
  }

  /** Back to how it was created, as for another connection. */
  reset(): void {
    this.core.exports.cw_clock_sync_reset(this.address);
  }

  /** The stamp of now, for the server. Send it at once, with each packet of inputs. */
  transmit(now: number): Uint8Array<ArrayBuffer> {
    const { exports, memory } = this.core;
    const out = this.core.room(ROOM);
    return memory.copy(out, exports.cw_clock_sync_transmit(this.address, out, ROOM, now));
  }

  /** Takes the server's echo. The closer `now` is to the arrival of its datagram, the better. */
  receive(echo: Uint8Array, now: number): 'ok' | 'malformed' | 'stale' {
    const { core, address } = this;
    const code = core.exports.cw_clock_sync_receive(address, core.put(echo), echo.length, now);
    return core.received(code, 'MALFORMED', 'STALE');
  }

  /** Takes the server's word on how early the client's inputs arrive; see {@link InputSender}. */
  adjust(tick: number, earlyTicks: number, now: number): 'ok' | 'stale' {
    const { core, address } = this;
    const code = core.exports.cw_clock_sync_adjust(address, tick, earlyTicks, now);
    return core.received(code, 'STALE');
  }

  /** Lets time pass. Call it once per frame, then take the {@link events}. */
  update(now: number): void {
    this.core.exports.cw_clock_sync_update(this.address, now);
  }

  /** The ticks that are due, and where they have jumped. */
  *events(): Generator<ClockSyncEvent, void> {
    for (;;) {
      const { core, address } = this;
      const event = core.next(clockSyncEventStruct, (out) =>
        core.exports.cw_clock_sync_next(address, out),
      );
      if (!event) return;
      const type =
        clockSyncEventTypes[event['type'] as unknown as keyof typeof clockSyncEventTypes];
      yield { type, tick: event['tick']! };
    }
  }

  /** The server's tick time: the number of a tick and the part of it that has passed. */
  serverTime(now: number): number {
    return this.core.exports.cw_clock_sync_server_time(this.address, now);
  }

  /** The client's own tick time, ahead of the server's by the lead. */
  clientTime(now: number): number {
    return this.core.exports.cw_clock_sync_client_time(this.address, now);
  }

  stats(now: number): ClockSyncStats {
    const { core, address } = this;
    const stats = core.read(clockSyncStatsStruct, (out) =>
      core.exports.cw_clock_sync_stats(address, now, out),
    );
    return { ...stats, synced: stats['synced'] !== 0 } as ClockSyncStats;
  }
}

/** The server's side of a client's {@link ClockSync}. */
export class ClockEcho extends GameObject {
  constructor(core: GameCore) {
    const echo = core.allocate(clockEchoStruct.size);
    core.memory.bytes.fill(0, echo, echo + clockEchoStruct.size);
    super(core, echo, core.exports.release);
  }

  /** Takes a client's stamp. */
  receive(stamp: Uint8Array, now: number): 'ok' | 'malformed' | 'stale' {
    const { core, address } = this;
    const code = core.exports.cw_clock_echo_receive(address, core.put(stamp), stamp.length, now);
    return core.received(code, 'MALFORMED', 'STALE');
  }

  /** The bytes for the client, with the server's tick time at `now`. Send them at once. */
  transmit(tickTime: number, now: number): Uint8Array<ArrayBuffer> {
    const { exports, memory } = this.core;
    const out = this.core.room(ROOM);
    return memory.copy(out, exports.cw_clock_echo_transmit(this.address, tickTime, out, ROOM, now));
  }
}
