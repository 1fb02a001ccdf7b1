import { GameObject, type GameCore } from './module.js';
import {
  interpolationConfigStruct,
  interpolationStatsStruct,
  viewStruct,
  type InterpolationConfig,
  type InterpolationStats,
  type View,
} from './generated.js';

/** The bytes of an entry in the module, which only says whether its tick is kept; the states are kept here. */
const ENTRY_SIZE = 1;

/**
 * Computes what a client shows between the snapshots that arrive: two ticks and a fraction, for any time. The states of
 * the ticks may be anything: `view` returns the entries that `receive` was given.
 */
export class Interpolation<Entry> extends GameObject {
  readonly #entries = new Map<number, Entry>();
  readonly #most: number;

  /** @throws {@link MisuseError} `CONFIG` when the config cannot work. */
  constructor(core: GameCore, config: Omit<InterpolationConfig, 'entrySize'> = {}) {
    const { exports } = core;
    super(
      core,
      core.create(
        interpolationConfigStruct,
        { ...config, entrySize: ENTRY_SIZE },
        exports.cw_interpolation_config_default,
        exports.cw_interpolation_create,
      ),
      exports.cw_interpolation_destroy,
    );
    this.#most =
      config.maxEntries ??
      core.read(interpolationConfigStruct, exports.cw_interpolation_config_default)['maxEntries']!;
  }

  /** Forgets everything except the config, for use with another connection. */
  reset(): void {
    this.core.exports.cw_interpolation_reset(this.address);
    this.#entries.clear();
  }

  /** Takes the entry of a tick. An entry that was overtaken on its way is put where it belongs. */
  receive(tick: number, entry: Entry, now: number): 'ok' | 'duplicate' | 'stale' {
    const { core, address } = this;
    const entryAt = core.memoryFor(ENTRY_SIZE);
    const code = core.exports.cw_interpolation_receive(address, tick, entryAt, now);
    const result = core.received(code, 'DUPLICATE', 'STALE');
    if (result !== 'ok') return result;
    this.#entries.set(tick, entry);
    if (this.#entries.size > 2 * this.#most) this.#forget();
    return result;
  }

  /** Returns the view to show now; undefined while nothing has arrived. */
  view(now: number): (View & { readonly entries: readonly [Entry, Entry] }) | undefined {
    const { core, address } = this;
    const view = core.next(viewStruct, (out) =>
      core.exports.cw_interpolation_view(address, now, out),
    ) as View | undefined;
    if (!view) return undefined;
    return { ...view, entries: [this.#entries.get(view.from)!, this.#entries.get(view.to)!] };
  }

  stats(): InterpolationStats {
    const { core, address } = this;
    return core.read(interpolationStatsStruct, (out) =>
      core.exports.cw_interpolation_get_stats(address, out),
    ) as unknown as InterpolationStats;
  }

  /** Forgets the entries whose ticks the module has forgotten. */
  #forget(): void {
    const { core, address } = this;
    for (const tick of this.#entries.keys())
      if (!core.exports.cw_interpolation_entry(address, tick)) this.#entries.delete(tick);
  }
}
