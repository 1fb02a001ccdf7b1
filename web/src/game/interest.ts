import { GameObject, kitFunction, type GameCore } from './module.js';
import {
  interestConfigStruct,
  priorityStruct,
  type InterestConfig,
  type Priority,
} from './generated.js';

/** A grid that finds the entities near a place, for the lists of {@link SnapshotServer.setInterest}. */
export class Interest extends GameObject {
  /** @throws {@link MisuseError} `CONFIG` when the config cannot work. */
  constructor(core: GameCore, config: InterestConfig = {}) {
    const { exports } = core;
    const address = core.create(
      interestConfigStruct,
      config,
      exports.cw_interest_config_default,
      kitFunction(core, 'cw_interest_create'),
    );
    super(core, address, exports.cw_interest_destroy);
  }

  reset(): void {
    this.core.exports.cw_interest_reset(this.address);
  }

  /**
   * Sets where an entity is and how important.
   * @throws {@link MisuseError} `INVALID_ARGUMENT` for an id that is too large or numbers that are not finite.
   */
  set(entity: number, x: number, y: number, importance = 1): void {
    const { core, address } = this;
    core.check(core.exports.cw_interest_set(address, entity, x, y, importance));
  }

  remove(entity: number): void {
    this.core.exports.cw_interest_remove(this.address, entity);
  }

  /** Returns the entities within the radius of a place, in no order: at most `most`, those with the highest priorities. */
  find(x: number, y: number, most: number): Priority[] {
    const { exports, memory } = this.core;
    const out = this.core.memoryFor(most * priorityStruct.size);
    return Array.from({ length: exports.cw_interest_find(this.address, x, y, out, most) }, (_, i) =>
      memory.struct(out + i * priorityStruct.size, priorityStruct.fields),
    ) as unknown as Priority[];
  }
}
