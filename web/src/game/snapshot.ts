import { GameObject, kitFunction, type GameCore, type Received } from './module.js';
import {
  priorityStruct,
  snapshotClientStatsStruct,
  snapshotConfigStruct,
  snapshotEventStruct,
  snapshotEventTypes,
  snapshotServerStatsStruct,
  type Priority,
  type SnapshotClientStats,
  type SnapshotConfig,
  type SnapshotServerStats,
} from './generated.js';
import { schemaIn } from './structs.js';
import type { CoreSchema } from '../messages/codec.js';
import type { MessageName, MessageValue, Schema } from '../messages/schema.js';

/** An entity of a world: its type, and the value that the type describes. */
export type Entity<Of extends Schema> = {
  readonly [Name in MessageName<Of>]: {
    readonly type: Name;
    readonly value: MessageValue<Of, Name>;
  };
}[MessageName<Of>];

/** A change of an entity. */
export type SnapshotEvent<Of extends Schema> =
  | {
      readonly type: 'created' | 'updated';
      readonly entity: number;
      readonly tick: number;
      readonly state: Entity<Of>;
    }
  | { readonly type: 'removed'; readonly entity: number; readonly tick: number };

const make = (
  core: GameCore,
  schema: CoreSchema,
  config: SnapshotConfig,
  side: 'client' | 'server',
) =>
  core.create(
    snapshotConfigStruct,
    config,
    (out) => core.exports.cw_snapshot_config_default(out, schema.pointer),
    kitFunction(core, `cw_snapshot_${side}_create`),
  );

/** The server's end of snapshots: a world, and the part of it that each client has. */
export class SnapshotServer<Of extends Schema> extends GameObject {
  readonly #schema: CoreSchema;
  readonly #state: number;
  readonly #out: number;
  readonly #maxBytes: number;

  /** @throws {@link MisuseError} `CONFIG` when the config cannot work. */
  constructor(core: GameCore, schema: Of, config: SnapshotConfig = {}) {
    const inside = schemaIn(core, schema);
    super(core, make(core, inside, config, 'server'), core.exports.cw_snapshot_server_destroy);
    this.#schema = inside;
    this.#state = this.buffer(core.exports.cw_schema_message_size(inside.pointer));
    this.#maxBytes =
      config.maxBytes ??
      core.read(snapshotConfigStruct, (out) =>
        core.exports.cw_snapshot_config_default(out, inside.pointer),
      )['maxBytes']!;
    this.#out = this.buffer(this.#maxBytes);
  }

  reset(): void {
    this.core.exports.cw_snapshot_server_reset(this.address);
  }

  /**
   * Sets the state that an entity has from the next tick on.
   * @throws {@link MisuseError} `INVALID_ARGUMENT` for an id that is too large, `MESSAGE_VALUE` and
   *   RangeError for a value that does not fit its type.
   */
  set<Name extends MessageName<Of>>(
    entity: number,
    type: Name,
    value: MessageValue<Of, Name>,
  ): void {
    const { core, address } = this;
    const number = this.#schema.number(type);
    this.#schema.write(number, this.#state, value as Record<string, unknown>);
    core.check(core.exports.cw_snapshot_server_set(address, entity, number, this.#state));
  }

  /** Removes an entity from the next tick on. */
  remove(entity: number): void {
    this.core.exports.cw_snapshot_server_remove(this.address, entity);
  }

  /** Makes the world as it was set that of this tick. Each tick must be greater than the one before. */
  tick(tick: number): void {
    const { core, address } = this;
    core.check(core.exports.cw_snapshot_server_tick(address, tick));
  }

  /** Adds a client, which has no snapshot yet. */
  join(client: number): void {
    const { core, address } = this;
    core.check(core.exports.cw_snapshot_server_join(address, client));
  }

  /** Forgets what a client has acked, so that the next snapshot needs no baseline. */
  restart(client: number): void {
    const { core, address } = this;
    core.check(core.exports.cw_snapshot_server_restart(address, client));
  }

  /** Sets how urgent an entity is for a client when not everything fits; with 0, the client does not get the entity. */
  setPriority(client: number, entity: number, priority: number): void {
    const { core, address } = this;
    core.check(core.exports.cw_snapshot_server_set_priority(address, client, entity, priority));
  }

  /**
   * Sets the priorities of all entities for a client: those of the list, such as one of {@link Interest.find}, and 0 for
   * all others. A priority is a rate too: the changes of an entity come with every snapshot from 1 on, and with every
   * fourth for 0.25.
   * @throws {@link MisuseError} `INVALID_ARGUMENT` for more than `maxInterest` entities.
   */
  setInterest(client: number, list: readonly Priority[]): void {
    const { core, address } = this;
    const { size, fields } = priorityStruct;
    const at = core.memoryFor(list.length * size);
    list.forEach((one, i) => core.memory.setStruct(at + i * size, fields, { ...one }));
    core.check(core.exports.cw_snapshot_server_set_interest(address, client, at, list.length));
  }

  /** Returns a snapshot of the last tick for a client, within a limit of bytes; undefined before the first tick. */
  transmit(
    client: number,
    maxBytes = this.#maxBytes,
  ): { readonly number: number; readonly data: Uint8Array<ArrayBuffer> } | undefined {
    const { exports, memory } = this.core;
    const number = this.core.memoryFor(4);
    const size = exports.cw_snapshot_server_transmit(
      this.address,
      client,
      this.#out,
      Math.min(maxBytes, this.#maxBytes),
      number,
    );
    if (size === 0) return undefined;
    return { number: memory.u32(number), data: memory.copy(this.#out, size) };
  }

  /** Notes that the client has the snapshot of this number. */
  acked(client: number, number: number): void {
    this.core.exports.cw_snapshot_server_acked(this.address, client, number);
  }

  stats(): SnapshotServerStats {
    const { core, address } = this;
    return core.read(snapshotServerStatsStruct, (out) =>
      core.exports.cw_snapshot_server_get_stats(address, out),
    ) as unknown as SnapshotServerStats;
  }
}

/** The client's end of snapshots: the world as it is known here. */
export class SnapshotClient<Of extends Schema> extends GameObject {
  readonly #schema: CoreSchema;

  /** @throws {@link MisuseError} `CONFIG` when the config cannot work. */
  constructor(core: GameCore, schema: Of, config: SnapshotConfig = {}) {
    const inside = schemaIn(core, schema);
    super(core, make(core, inside, config, 'client'), core.exports.cw_snapshot_client_destroy);
    this.#schema = inside;
  }

  reset(): void {
    this.core.exports.cw_snapshot_client_reset(this.address);
  }

  /** Takes a snapshot. With a result other than 'ok' it was dropped, and nothing has changed. */
  receive(data: Uint8Array): Received<'MALFORMED' | 'DUPLICATE' | 'STALE' | 'SNAPSHOT_BASELINE'> {
    const { core, address } = this;
    const code = core.exports.cw_snapshot_client_receive(address, core.put(data), data.length);
    return core.received(code, 'MALFORMED', 'DUPLICATE', 'STALE', 'SNAPSHOT_BASELINE');
  }

  /** Returns the number of the newest snapshot, in 16 bits, for an ack that the client sends itself. */
  newest(): number | undefined {
    const { exports, memory } = this.core;
    const out = this.core.memoryFor(4);
    return exports.cw_snapshot_client_newest(this.address, out)
      ? memory.view.getUint16(out, true)
      : undefined;
  }

  /** Returns the tick of the newest snapshot; undefined when there was none. */
  tick(): number | undefined {
    const { exports, memory } = this.core;
    const out = this.core.memoryFor(4);
    return exports.cw_snapshot_client_tick(this.address, out) ? memory.u32(out) : undefined;
  }

  /** Returns the newest state of an entity; undefined when there is no such entity. */
  state(entity: number): Entity<Of> | undefined {
    const { exports, memory } = this.core;
    const out = this.core.memoryFor(4);
    const state = exports.cw_snapshot_client_state(this.address, entity, out);
    return state === 0 ? undefined : this.#entity(memory.u32(out), state);
  }

  /** Takes the entities that have changed since the last call; several changes of one entity are one event. */
  *events(): Generator<SnapshotEvent<Of>, void> {
    for (;;) {
      const { core, address } = this;
      const event = core.next(snapshotEventStruct, (out) =>
        core.exports.cw_snapshot_client_next(address, out),
      );
      if (!event) return;
      const { entity, tick } = event as { entity: number; tick: number };
      const type = snapshotEventTypes[event['type'] as unknown as keyof typeof snapshotEventTypes];
      if (type === 'removed') yield { type, entity, tick };
      else yield { type, entity, tick, state: this.state(entity)! };
    }
  }

  stats(): SnapshotClientStats {
    const { core, address } = this;
    return core.read(snapshotClientStatsStruct, (out) =>
      core.exports.cw_snapshot_client_get_stats(address, out),
    ) as unknown as SnapshotClientStats;
  }

  #entity(type: number, state: number): Entity<Of> {
    return {
      type: this.#schema.name(type),
      value: this.#schema.read(type, state),
    } as unknown as Entity<Of>;
  }
}
