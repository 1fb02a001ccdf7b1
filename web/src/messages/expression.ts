import type { Field } from './fields.js';

/** The operations of the core, as in core/src/message/schema_expression.h. */
const FIELD = 1;
const NOT = 2;
const SUBTRACT = 10;
/** A number begins with this and its upper bits; its other bits follow in sixes. */
const PUSH = 128;
const EXTEND = 192;

/** An operator: how tightly it binds, its operation, and how often the operands and the result are negated. */
type Operator = readonly [rank: number, operation: number, operands: number, result: number];

const OPERATORS: Readonly<Record<string, Operator>> = {
  '||': [1, 6, 1, 1],
  '&&': [2, 6, 2, 0],
  '&': [3, 6, 0, 0],
  '==': [4, 3, 0, 0],
  '!=': [4, 3, 0, 1],
  '<=': [5, 5, 0, 0],
  '>=': [5, 4, 0, 1],
  '<': [5, 4, 0, 0],
  '>': [5, 5, 0, 1],
  '<<': [6, 7, 0, 0],
  '>>': [6, 8, 0, 0],
  '+': [7, 9, 0, 0],
  '-': [7, SUBTRACT, 0, 0],
  '*': [8, 11, 0, 0],
  '/': [8, 12, 0, 0],
  '%': [8, 13, 0, 0],
};

const TOKEN = / *([A-Za-z_]\w*|\d{1,18}(?!\w)|\|\||&&|<<|>>|[=!<>]=|[-+*/%&<>!()]) */y;

const KINDS = new Set(['bool', 'int', 'uint', 'int64', 'uint64', 'relative']);

/** A field with an expression has {@link operations} under this name, for the same reasons as its slot. */
export const OPERATIONS = Symbol.for('causeway-net operations');

/** A field that may be in an expression, or that stands before one that may. */
export type Entry = readonly [name: string, field: Field<unknown>];

const tokensOf = (text: string): string[] | undefined => {
  const tokens: string[] = [];
  TOKEN.lastIndex = 0;
  for (let at = 0; at < text.length; at = TOKEN.lastIndex) {
    const token = TOKEN.exec(text)?.[1];
    if (token === undefined) return undefined;
    tokens.push(token);
  }
  return tokens;
};

const numberOf = (digits: string): number[] => {
  const bytes: number[] = [];
  let rest = BigInt(digits);
  for (; rest >= 64n; rest >>= 6n) bytes.unshift(EXTEND + Number(rest & 63n));
  return [PUSH + Number(rest), ...bytes];
};

/**
 * Turns an expression over earlier fields into the operations of the core, which a 0 ends.
 *
 * @throws A RangeError when it is none.
 */
export const operations = (owner: string, text: string, earlier: readonly Entry[]): number[] => {
  const wrong = (): never => {
    throw new RangeError(`${owner}: '${text}' is no expression of the fields before it`);
  };
  const tokens = tokensOf(text) ?? wrong();
  const result: number[] = [];
  const negate = (times: number): void => void result.push(...Array<number>(times).fill(NOT));

  const operand = (): void => {
    const token = tokens.shift() ?? wrong();
    if (token === '(') {
      operators(1);
      if (tokens.shift() !== ')') wrong();
    } else if (token === '!') {
      operand();
      result.push(NOT);
    } else if (token === '-') {
      result.push(PUSH);
      operand();
      result.push(SUBTRACT);
    } else if (/^\d/.test(token)) {
      result.push(...numberOf(token));
    } else {
      const back = earlier.length - earlier.findIndex(([name]) => name === token);
      const field = earlier.at(-back)?.[1];
      if (back > 255 || !field || !KINDS.has(field.kind) || field.optional || field.array > 0)
        wrong();
      result.push(FIELD, back);
    }
  };

  /** Goes on for as long as operators of at least this rank follow. */
  const operators = (least: number): void => {
    operand();
    for (;;) {
      const [rank, operation, operands, negations] = OPERATORS[tokens[0] ?? ''] ?? [0, 0, 0, 0];
      if (rank < least) return;
      tokens.shift();
      negate(operands);
      operators(rank + 1);
      negate(operands);
      result.push(operation);
      negate(negations);
    }
  };

  if (tokens[0] === '>=') {
    tokens.shift();
    result.push(EXTEND);
  }
  operators(1);
  if (tokens.length > 0) wrong();
  return [...result, 0];
};
