import { CausewayError, errorClasses } from '../errors.js';

/** The part of a port that a page uses of its Worker, and the Worker of its page. */
export interface Port {
  postMessage(message: unknown, transfer: Transferable[]): void;
  onmessage: ((event: MessageEvent) => void) | null;
}

/** The functions of one side of a line, by their names. */
export type Side = { readonly [name: string]: (...args: never[]) => unknown };

/** An error as it goes through a port, which keeps neither the class nor the fields of one. */
interface PackedError {
  readonly name: string;
  readonly message: string;
  readonly fields: Record<string, unknown>;
}

type Letter =
  | { readonly name: string; readonly args: unknown[]; readonly id?: number }
  | { readonly answers: number; readonly value?: unknown; readonly error?: PackedError };

const classes: Readonly<Record<string, { readonly prototype: Error }>> = {
  ...errorClasses,
  RangeError,
  TypeError,
};

function pack(error: unknown): PackedError {
  const { name, message } = error instanceof Error ? error : new Error(String(error));
  // Only our own errors have fields that are known to go through.
  const fields = error instanceof CausewayError ? { ...error } : {};
  if ('errors' in fields) fields.errors = (fields.errors as unknown[]).map(pack);
  return { name, message, fields };
}

function unpack({ name, message, fields }: PackedError): Error {
  const error = new Error(message);
  Object.setPrototypeOf(error, classes[name]?.prototype ?? Error.prototype);
  const own = fields.errors ? { errors: (fields.errors as PackedError[]).map(unpack) } : {};
  return Object.assign(error, fields, own);
}

/** Calls functions of the other side of a port, and lets the other side call its own. */
export class Line<Theirs extends { readonly [Name in keyof Theirs]: Side[string] }> {
  readonly #port: Port;
  readonly #mine: Side;
  readonly #open = new Map<
    number,
    { readonly resolve: (value: never) => void; readonly reject: (error: unknown) => void }
  >();
  #last = 0;
  #closed: Error | undefined;

  constructor(port: Port, mine: Side) {
    this.#port = port;
    this.#mine = mine;
    port.onmessage = ({ data }) => void this.#take(data as Letter);
  }

  /**
   * Calls a function of the other side.
   * @throws the error of that function, if it is an error of this package, a RangeError or a TypeError; any other error
   *   as an Error with its message; DataCloneError for a value that does not go through a port
   */
  async call<Name extends keyof Theirs & string>(
    name: Name,
    ...args: Parameters<Theirs[Name]>
  ): Promise<Awaited<ReturnType<Theirs[Name]>>> {
    if (this.#closed) throw this.#closed;
    const id = ++this.#last;
    this.#post({ name, args, id });
    return new Promise<never>((resolve, reject) => this.#open.set(id, { resolve, reject }));
  }

  /** Calls a function of the other side whose answer nobody waits for. */
  tell<Name extends keyof Theirs & string>(name: Name, ...args: Parameters<Theirs[Name]>): void {
    if (!this.#closed) this.#post({ name, args });
  }

  /** Does the same as `tell`, and transfers the last argument to the other side. */
  give<Name extends keyof Theirs & string>(name: Name, ...args: Parameters<Theirs[Name]>): void {
    if (!this.#closed) this.#post({ name, args }, [args.at(-1) as unknown as Transferable]);
  }

  /** Closes the line because the other side is gone: nothing is called any more, and calls without an answer reject. */
  close(error: Error): void {
    this.#closed = error;
    this.#port.onmessage = null;
    this.#open.forEach(({ reject }) => reject(error));
    this.#open.clear();
  }

  async #take(letter: Letter): Promise<void> {
    if ('answers' in letter) {
      const { answers, value, error } = letter;
      const open = this.#open.get(answers);
      this.#open.delete(answers);
      if (error) open?.reject(unpack(error));
      else open?.resolve(value as never);
      return;
    }
    const { name, args, id } = letter;
    const call = this.#mine[name] as (...args: unknown[]) => unknown;
    if (id === undefined) return void call(...args);
    try {
      const value = await call(...args);
      this.#post({ answers: id, value });
    } catch (error) {
      this.#post({ answers: id, error: pack(error) });
    }
  }

  #post(letter: Letter, transfer: Transferable[] = []): void {
    this.#port.postMessage(letter, transfer);
  }
}
