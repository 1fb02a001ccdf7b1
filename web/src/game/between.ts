import type { MessageName, MessageValue, Schema } from '../messages/schema.js';

/**
 * The fields of each type that move smoothly: the farthest that each number of the field moves between two states that
 * are shown one after the other, or by a correction. When it has moved farther it has jumped, and is shown so.
 */
export type Smooth<World extends Schema> = {
  readonly [Name in MessageName<World>]?: {
    readonly [Field in keyof MessageValue<World, Name>]?: number;
  };
};

/** Returns what is at a fraction between two values; a number that moves farther than `limit` has that of `from`. */
const partOf = (from: unknown, to: unknown, fraction: number, limit: number): unknown => {
  if (typeof from === 'number' && typeof to === 'number')
    return Math.abs(to - from) <= limit ? from + (to - from) * fraction : from;
  if (typeof from !== 'object' || from === null || typeof to !== 'object' || to === null)
    return from;
  const inner = to as Readonly<Record<string, unknown>>;
  if (Array.isArray(from))
    return from.map((value, i) => partOf(value, inner[String(i)], fraction, limit));
  // This runs for each entity in each frame, for which Object.entries is too slow.
  const parts: Record<string, unknown> = {};
  for (const name in from)
    parts[name] = partOf(from[name as keyof object], inner[name], fraction, limit);
  return parts;
};

/** The limits of a state's fields by name. */
export type Limits = { readonly [Field in string]?: number };

/** Returns the state at a fraction between two states: the fields with a limit move, the others are those of `from`. */
export function between(
  from: Readonly<Record<string, unknown>>,
  to: Readonly<Record<string, unknown>>,
  fraction: number,
  limits: Limits,
): Readonly<Record<string, unknown>> {
  const shown = { ...from };
  for (const [name, limit] of Object.entries(limits))
    shown[name] = partOf(from[name], to[name], fraction, limit!);
  return shown;
}
