/** A visit of the page: it tells when the page is left, and when the browser shows it again as it was. */
export class PageVisit {
  readonly #left: () => void;
  readonly #restored: (() => void) | undefined;
  readonly #leave = (): void => {
    this.#left();
    if (this.#restored) globalThis.addEventListener?.('pageshow', this.#show);
  };
  readonly #show = (event: Event): void => {
    globalThis.removeEventListener?.('pageshow', this.#show);
    if ((event as PageTransitionEvent).persisted) this.#restored?.();
  };

  constructor(left: () => void, restored?: () => void) {
    this.#left = left;
    this.#restored = restored;
  }

  begin(): void {
    globalThis.removeEventListener?.('pageshow', this.#show);
    globalThis.addEventListener?.('pagehide', this.#leave);
  }

  end(): void {
    globalThis.removeEventListener?.('pagehide', this.#leave);
  }
}
