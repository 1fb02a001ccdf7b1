// Lets operations be aborted in engines without `AbortSignal.any` (Safari below 17.4), `throwIfAborted` (Chrome below
// 100) or `reason` (Chrome below 98, Firefox below 97).

const unnamed = (): DOMException => new DOMException('this was aborted', 'AbortError');

/** Returns the reason of an aborted signal, as it is thrown. */
export const reasonOf = (signal: AbortSignal): unknown =>
  'reason' in signal ? signal.reason : unnamed();

/** Throws the reason of a signal that is aborted. */
export function throwIfAborted(signal: AbortSignal | undefined): void {
  if (signal?.aborted) throw reasonOf(signal);
}

/** A signal that is aborted by {@link abort} or together with another signal, by the first of the two. */
export class Abort {
  readonly #controller = new AbortController();
  readonly #outer: AbortSignal | undefined;
  readonly #follow = (): void => this.abort(reasonOf(this.#outer!));

  constructor(outer?: AbortSignal) {
    this.#outer = outer;
    if (outer?.aborted) this.#follow();
    else outer?.addEventListener('abort', this.#follow);
  }

  get signal(): AbortSignal {
    return this.#controller.signal;
  }

  abort(reason: unknown = unnamed()): void {
    if (this.signal.aborted) return;
    if (!('reason' in this.signal)) Object.defineProperty(this.signal, 'reason', { value: reason });
    this.#controller.abort(reason);
  }

  /** Stops following the other signal, which may live for much longer. */
  release(): void {
    this.#outer?.removeEventListener('abort', this.#follow);
  }
}
