import { GameObject, kitFunction, type GameCore } from './module.js';
import {
  clockEchoStruct,
  clockSyncConfigStruct,
  clockSyncEventStruct,
  clockSyncEventTypes,
  clockSyncStatsStruct,
  type ClockSyncConfig,
  type ClockSyncStats,
} from './generated.js';

/** Neither a stamp nor an echo has more than this many bytes; the header has their sizes. */
const ANSWER_BYTES = 16;

/** The next step of a client: to run a tick, or to forget its predictions because its ticks have jumped. */
export interface ClockSyncEvent {
  readonly type: 'tick' | 'restart';
  readonly tick: number;
}

/**
 * A clock gives a client the server's time in ticks. The client's own ticks run ahead of it, so that the input for a
 * tick reaches the server just before the server needs it.
 */
export class ClockSync extends GameObject {
  /** @throws {@link MisuseError} `CONFIG` when the config cannot work. */
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

  /** Goes back to how it was created, for use with another connection. */
  reset(): void {
    this.core.exports.cw_clock_sync_reset(this.address);
  }

  /** Returns a stamp of this moment for the server. Send it at once, with each packet of inputs. */
  transmit(now: number): Uint8Array<ArrayBuffer> {
    const { exports, memory } = this.core;
    const out = this.core.memoryFor(ANSWER_BYTES);
    return memory.copy(out, exports.cw_clock_sync_transmit(this.address, out, ANSWER_BYTES, now));
  }

  /** Takes the server's echo. The clock is more exact the closer `now` is to the arrival of the echo's datagram. */
  receive(echo: Uint8Array, now: number): 'ok' | 'malformed' | 'stale' {
    const { core, address } = this;
    const code = core.exports.cw_clock_sync_receive(address, core.put(echo), echo.length, now);
    return core.received(code, 'MALFORMED', 'STALE');
  }

  /** Takes the server's report of how early the client's inputs arrive; see {@link InputSender}. */
  adjust(tick: number, earlyTicks: number, now: number): 'ok' | 'stale' {
    const { core, address } = this;
    const code = core.exports.cw_clock_sync_adjust(address, tick, earlyTicks, now);
    return core.received(code, 'STALE');
  }

  /** Lets time pass. Call it once per frame, then take the {@link events}. */
  update(now: number): void {
    this.core.exports.cw_clock_sync_update(this.address, now);
  }

  /** Takes the ticks that are due, and the jumps between them. */
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

  /** Returns the server's tick time: the number of a tick plus the part of it that has passed. */
  serverTime(now: number): number {
    return this.core.exports.cw_clock_sync_server_time(this.address, now);
  }

  /** Returns the client's own tick time, ahead of the server's by the lead. */
  clientTime(now: number): number {
    return this.core.exports.cw_clock_sync_client_time(this.address, now);
  }

  stats(now: number): ClockSyncStats {
    const { core, address } = this;
    const stats = core.read(clockSyncStatsStruct, (out) =>
      core.exports.cw_clock_sync_get_stats(address, now, out),
    );
    return { ...stats, synced: stats['synced'] !== 0 } as ClockSyncStats;
  }
}

/** The server's side of a client's {@link ClockSync}. */
export class ClockEcho extends GameObject {
  constructor(core: GameCore) {
    kitFunction(core, 'cw_clock_echo_transmit');
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

  /** Returns the bytes for the client, with the server's tick time at `now`. Send them at once. */
  transmit(tickTime: number, now: number): Uint8Array<ArrayBuffer> {
    const { exports, memory } = this.core;
    const out = this.core.memoryFor(ANSWER_BYTES);
    return memory.copy(
      out,
      exports.cw_clock_echo_transmit(this.address, tickTime, out, ANSWER_BYTES, now),
    );
  }
}
