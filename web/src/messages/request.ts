import { bits, checkFields, type Field, type Fields, type Values } from './fields.js';
import { message, type MessageType, type Schema } from './schema.js';

/** The numbers of a question and of its answer, which the core fills in. */
type Asking = { readonly cw_request: Field<number> };
type Answering = { readonly cw_answer: Field<number> };
type Refusing = { readonly cw_refusal: Field<number>; readonly code: Field<number> };

/** A request, made with {@link request}: a question that gets one answer. */
export interface RequestType<
  Name extends string = string,
  Question extends Fields = Fields,
  Answer extends Fields = Fields,
> {
  /** The types of messages that a schema contains for it: the question, its answer, and its refusal. */
  readonly parts: readonly [
    MessageType<Name, Asking & Question, false>,
    MessageType<`${Name}_answer`, Answering & Answer, false>,
    MessageType<`${Name}_refusal`, Refusing, false>,
  ];
}

/**
 * Declares a request by the fields of its question and those of its answer, as `CW_REQUEST` does in C:
 * `schema(message(...), request('lookup', { name: string(32) }, { score: uint(0, 1000) }))`.
 */
export const request = <
  Name extends string,
  const Question extends Fields,
  const Answer extends Fields,
>(
  name: Name,
  question: Question,
  answer: Answer,
): RequestType<Name, Question, Answer> => {
  checkFields(name, question);
  checkFields(`${name}_answer`, answer);
  return {
    parts: [
      message(name, { cw_request: bits(16), ...question }),
      message(`${name}_answer`, { cw_answer: bits(16), ...answer }),
      message(`${name}_refusal`, { cw_refusal: bits(16), code: bits(16) }),
    ],
  };
};

/** The types of messages that no application sends by itself. */
export type RequestPart = { readonly fields: Asking | Answering | Refusing };

type Question = { readonly name: string; readonly fields: Asking };

/** The names of a schema's requests. */
export type RequestName<Of extends Schema> = Extract<Of['types'][number], Question>['name'];

/** The value of a message without the number that the core fills in. */
type ValueOf<Of extends Schema, Name, Number> =
  Extract<Of['types'][number], { readonly name: Name }> extends MessageType<string, infer Its>
    ? { readonly [Field in keyof Its as Exclude<Field, Number>]: Its[Field] } extends infer Own
      ? Own extends Fields
        ? Values<Own>
        : never
      : never
    : never;

/** The value that a request's question holds: `QuestionValue<typeof schema, 'lookup'>`. */
export type QuestionValue<Of extends Schema, Name extends RequestName<Of>> = ValueOf<
  Of,
  Name,
  'cw_request'
>;

/** The value that a request's answer holds: `AnswerValue<typeof schema, 'lookup'>`. */
export type AnswerValue<Of extends Schema, Name extends RequestName<Of>> = ValueOf<
  Of,
  `${Name}_answer`,
  'cw_answer'
>;

/** The options of a request. */
export interface RequestOptions {
  /** The channel of the question and its answer. Default 0. On an unreliable one the question is repeated. */
  readonly channel?: number;
  /** The longest that the answer is waited for, above 0, at most 3600. Default 10. */
  readonly timeoutSeconds?: number;
  /** It gives the request up when it is aborted: the promise rejects with its reason. */
  readonly signal?: AbortSignal;
}

/** A function that answers a request. */
export type Answerer<Of extends Schema, Name extends RequestName<Of>> = (
  question: QuestionValue<Of, Name>,
) => AnswerValue<Of, Name> | PromiseLike<AnswerValue<Of, Name>>;

/** Returns the names of a schema's requests. @internal */
export const requestNames = ({ types }: Schema): string[] =>
  types.filter(({ fields }) => 'cw_request' in fields).map(({ name }) => name);
