import { reasonOf, throwIfAborted } from '../abort.js';
import { seconds } from '../clock.js';
import { CausewayError, ConnectionError, closedError, refusedError, refusalOf } from '../errors.js';
import { refusals } from '../generated.js';
import type { MessageEnd } from '../messages/message_end.js';
import type {
  AnswerValue,
  QuestionValue,
  RequestName,
  RequestOptions,
} from '../messages/request.js';
import type { Schema } from '../messages/schema.js';
import type { ConnectionEvent } from '../messages/types.js';

/** A function that answers a request, whatever its type. @internal */
export type AnyAnswerer = (question: never) => unknown;

/** The host of messages: it gets their `drain` events, and has the functions that answer requests. @internal */
export interface Target extends EventTarget {
  answererOf(type: string): AnyAnswerer | undefined;
}

/** This is a request of ours that is open. */
interface Open {
  readonly resolve: (value: unknown) => void;
  readonly reject: (reason: unknown) => void;
  readonly type: string;
  readonly timeoutSeconds: number;
}

/** The events of a connection that concern requests. */
export type RequestEvent<Of extends Schema> = Extract<
  ConnectionEvent<Of>,
  { readonly request: number }
>;

const codeOf = (error: unknown): string | undefined =>
  error instanceof CausewayError ? error.code : undefined;

/** The requests of one end of a connection: its own, and those of the other end, which it answers. */
export class Requests<Of extends Schema> {
  readonly #end: MessageEnd<Of>;
  readonly #target: Target;
  readonly #open = new Map<number, Open>();
  /** Answers that wait until a message can be made. */
  #waiting: (() => void)[] = [];
  /** The number of connections that have ended. */
  #ended = 0;

  constructor(end: MessageEnd<Of>, target: Target) {
    this.#end = end;
    this.#target = target;
  }

  /** Asks a question, and resolves with the value of its answer. */
  async ask<Name extends RequestName<Of>>(
    type: Name,
    value: QuestionValue<Of, Name>,
    { channel = 0, timeoutSeconds = 10, signal }: RequestOptions,
  ): Promise<AnswerValue<Of, Name>> {
    throwIfAborted(signal);
    const number = this.#end.request(channel, type, value, seconds(), timeoutSeconds);
    const giveUp = (): void => {
      const open = this.#open.get(number);
      if (!open) return;
      this.#open.delete(number);
      this.#end.cancel(number);
      open.reject(reasonOf(signal!));
    };
    signal?.addEventListener('abort', giveUp);
    try {
      return (await new Promise<unknown>((resolve, reject) =>
        this.#open.set(number, { resolve, reject, type, timeoutSeconds }),
      )) as AnswerValue<Of, Name>;
    } finally {
      signal?.removeEventListener('abort', giveUp);
    }
  }

  take(event: RequestEvent<Of>): void {
    const { request } = event;
    if (event.type === 'request') {
      const { type, value } = event.question as { type: string; value: unknown };
      void this.#answer(request, type, value);
      return;
    }
    const open = this.#open.get(request);
    this.#open.delete(request);
    if (!open) return;
    if (event.type === 'answer') open.resolve(event.value);
    else if (event.reason === 'refused') open.reject(refusedError(event.code));
    else if (event.reason === 'closed') open.reject(closedError());
    else
      open.reject(
        new ConnectionError(
          'TIMED_OUT',
          `${open.type}: no answer came in ${open.timeoutSeconds} s`,
        ),
      );
  }

  /** Sends the answers for which there was no room. */
  progress(): void {
    const waiting = this.#waiting;
    this.#waiting = [];
    waiting.forEach((send) => send());
  }

  /** Ends all requests with the connection. */
  giveUp(): void {
    this.#ended++;
    this.#waiting = [];
    const open = [...this.#open.values()];
    this.#open.clear();
    open.forEach(({ reject }) => reject(closedError()));
  }

  /** Answers a question of the other end. An error that is no refusal goes on to the platform, as that of a listener. */
  async #answer(request: number, type: string, value: unknown): Promise<void> {
    const connection = this.#ended;
    try {
      const answer = this.#target.answererOf(type);
      if (!answer) throw refusedError(refusals.NO_ANSWER);
      const its = (await answer(value as never)) as AnswerValue<Of, RequestName<Of>>;
      this.#reply(connection, () =>
        this.#end.answer(request, type as RequestName<Of>, its, seconds()),
      );
    } catch (error) {
      const refusal = refusalOf(error);
      this.#reply(connection, () =>
        this.#end.refuse(request, refusal ?? refusals.FAILED, seconds()),
      );
      if (refusal === undefined) throw error;
    }
  }

  /** Answers or refuses, unless nobody waits for it any more. */
  #reply(connection: number, send: () => void): void {
    if (this.#ended !== connection) return;
    try {
      send();
    } catch (error) {
      const code = codeOf(error);
      if (code === 'POOL_EMPTY') this.#waiting.push(() => this.#reply(connection, send));
      else if (code !== 'NOT_ASKED' && code !== 'NOT_CONNECTED') throw error;
    }
  }
}
