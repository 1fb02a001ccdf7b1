import { MisuseError } from './errors.js';

/**
 * Checks the options of a function, which may have been called from JavaScript.
 * @param needed the options that must be there
 * @throws {@link MisuseError} `INVALID_ARGUMENT` when one is missing, or any is null: an option that is to have its
 *   default is left out
 */
export function checkOptions(
  of: string,
  options: object | null | undefined,
  needed: readonly string[] = [],
): void {
  const given: Readonly<Record<string, unknown>> = { ...options };
  const refuse = (message: string): never => {
    throw new MisuseError('INVALID_ARGUMENT', message);
  };
  if (needed.some((name) => !given[name]))
    refuse(`the options of ${of} need ${needed.map((name) => `a ${name}`).join(' and ')}`);
  if (options === null) refuse(`the options of ${of} are null; leave them out`);
  const empty = Object.keys(given).find((name) => given[name] === null);
  if (empty) refuse(`${empty}: null is no value; leave the option out to have its default`);
}
