// Reads files of the public schema language, which end in .schema: constants, enums, flags, types and messages.

/** An error with its place in the file. */
class Mistake extends Error {
  constructor(file, { line, column }, text) {
    super(`${file}:${line}:${column}: ${text}`);
  }
}

const TOKENS =
  /(?<space>[ \t\r]+|\/\/[^\n]*|\/\*[^]*?\*\/)|(?<newline>\n)|(?<float>\d+(?:\.\d+(?:[eE][-+]?\d+)?|[eE][-+]?\d+))|(?<int>0x[\da-fA-F]+|0b[01]+|\d+)|(?<word>[A-Za-z_]\w*)|(?<text>"[^"\n]*")|(?<sign>\.\.|[-{}()[\],:=!.+*/%])/y;

/** A new line after one of these does not end a declaration. */
const GOES_ON = new Set(['{', '(', '[', ',', ':', '=', 'else', '+', '-', '*', '/', '%']);

/** Cuts a text into tokens; the kind `end` is that of a new line which ends something, and of the end of the file. */
function tokensOf(file, text) {
  const tokens = [];
  let [line, start] = [1, 0];
  const end = (place) => {
    const last = tokens.at(-1);
    if (last && last.kind !== 'end' && !GOES_ON.has(last.text))
      tokens.push({ kind: 'end', text: 'the end of the line', ...place });
  };
  for (let at = 0; at < text.length;) {
    const place = { line, column: at - start + 1 };
    TOKENS.lastIndex = at;
    const found = TOKENS.exec(text);
    if (!found) throw new Mistake(file, place, `${JSON.stringify(text[at])} is nothing here`);
    at = TOKENS.lastIndex;
    const [kind, value] = Object.entries(found.groups).find(([, part]) => part !== undefined);
    if (kind === 'newline') end(place);
    else if (kind !== 'space') tokens.push({ kind, text: value, ...place });
    const lines = value.split('\n').length - 1;
    line += lines;
    if (lines > 0) start = found.index + value.lastIndexOf('\n') + 1;
  }
  end({ line, column: text.length - start + 1 });
  return tokens;
}

/** No field here can carry these, for the reason beside each. */
export const ELSEWHERE = {
  table: 'tables have a wire of their own',
  object: 'objects are the snapshots of another library; declare a message',
  union: 'unions are not built; declare a number and fields with "if"',
  contexts: 'contexts are not built; keep local state out of messages',
};

/** Names that a declaration cannot have, because they stand for something else in what is written. */
const RESERVED = new Set(
  `align array arrayFrom bits bool bytes compressedFloat const constant enum enumeration f32 f64 fixed fixedArray flags
  float32 float64 if else int int64 int128 message package reserved schema string struct type ufixed uint uint64 uint128
  when wideString wstring break case catch class continue debugger default
  delete do export extends false finally for function import in instanceof new null return super switch this throw true
  try typeof var void while with yield let static await`.split(/\s+/),
);

/** Reads a file into its declarations. */
export class Parser {
  constructor(file, text) {
    this.file = file;
    this.tokens = tokensOf(file, text);
    this.at = 0;
    this.constants = new Map();
    this.enums = new Map();
    this.flags = new Map();
    this.types = new Map();
    this.messages = new Map();
    this.package = undefined;
  }

  get next() {
    return this.tokens[this.at] ?? { ...this.tokens.at(-1), kind: 'eof', text: 'the end' };
  }

  fail(text, token = this.next) {
    throw new Mistake(this.file, token, text);
  }

  is(text) {
    return this.next.text === text && this.next.kind !== 'text';
  }

  /** Takes the next token if it is this one. */
  takes(text) {
    if (!this.is(text)) return false;
    this.at++;
    return true;
  }

  expect(text) {
    if (!this.takes(text)) this.fail(`"${text}" is expected, not ${this.next.text}`);
  }

  word(what) {
    if (this.next.kind !== 'word') this.fail(`${what} is expected, not ${this.next.text}`);
    return this.tokens[this.at++];
  }

  skipEnds() {
    while (this.next.kind === 'end') this.at++;
  }

  /** A declaration ends with its line, or before the "}" that follows. */
  endOfItem() {
    if (this.next.kind === 'end') this.at++;
    else if (!this.is('}') && this.next.kind !== 'eof')
      this.fail(`the end of the line is expected, not ${this.next.text}`);
  }

  parse() {
    for (this.skipEnds(); this.next.kind !== 'eof'; this.skipEnds()) {
      const keyword = this.word('a declaration');
      const read = {
        package: () => (this.package = this.name().text),
        const: () => this.constant(),
        enum: () => this.variants(this.enums),
        flags: () => this.variants(this.flags),
        type: () => this.block(this.types),
        message: () => this.block(this.messages),
      }[keyword.text];
      if (!read)
        this.fail(ELSEWHERE[keyword.text] ?? `${keyword.text} begins no declaration`, keyword);
      read();
      this.endOfItem();
    }
    return this;
  }

  /** Takes the name of a declaration, of which there is one in the file. */
  name() {
    const token = this.word('a name');
    const all = [this.constants, this.enums, this.flags, this.types, this.messages];
    if (all.some((map) => map.has(token.text))) this.fail(`${token.text} is declared twice`, token);
    if (RESERVED.has(token.text)) this.fail(`${token.text} is a word of the language`, token);
    return token;
  }

  constant() {
    const { text: name } = this.name();
    if (this.next.kind === 'word') this.at++; // its type, which the names of constants do without
    this.expect('=');
    this.constants.set(name, this.expression());
  }

  /** Enums have None = 0 before their variants. */
  variants(map) {
    const { text: name } = this.name();
    const attributes = this.attributes();
    const names = [];
    this.expect('{');
    for (this.skipEnds(); !this.takes('}'); this.skipEnds()) {
      const variant = this.word('a variant');
      if (names.includes(variant.text) || ['None', 'Max', 'Count'].includes(variant.text))
        this.fail(`${variant.text} is declared twice`, variant);
      names.push(variant.text);
      this.skipEnds();
      if (!this.takes(',') && !this.is('}')) this.fail('"," or "}" is expected');
    }
    const max = attributes.get('max');
    const size = () => this.size(names, max);
    map.set(name, { names, size, isFull: () => size() === names.length });
  }

  /** Returns the number of variants, or the larger one that leaves room for more. */
  size(names, max) {
    const size = max ? Number(max()) : names.length;
    if (size < names.length) this.fail(`max is ${size}, and there are ${names.length} variants`);
    return size;
  }

  /** The attributes of a type are tags, which change nothing here. */
  block(map) {
    const token = this.name();
    this.attributes();
    map.set(token.text, { token, items: this.items() });
  }

  items() {
    const items = [];
    this.expect('{');
    for (this.skipEnds(); !this.takes('}'); this.skipEnds()) {
      items.push(this.item());
      this.endOfItem();
    }
    return items;
  }

  item() {
    const first = this.word('a field');
    if (first.text === 'align') return { token: first, wire: 'align', values: [] };
    if (first.text === 'const' || first.text === 'reserved')
      return { token: first, wire: first.text, values: this.parameters() };
    if (first.text === 'if') {
      const not = this.takes('!');
      const subject = this.word('a field of true or false');
      const yes = this.items();
      if (this.next.kind === 'end' && this.tokens[this.at + 1]?.text === 'else') this.at++;
      return { token: first, not, subject, yes, no: this.takes('else') ? this.items() : [] };
    }
    if (Object.hasOwn(ELSEWHERE, first.text)) this.fail(ELSEWHERE[first.text], first);
    const type = this.type();
    const attributes = this.attributes();
    if (this.is('=')) this.fail('defaults are not built: a value is what the program sets');
    return { token: first, type, attributes };
  }

  type() {
    let bound;
    if (this.takes('[')) {
      const least = this.is('..') ? undefined : this.expression();
      const most = this.takes('..') ? this.expression() : undefined;
      bound = { least, most };
      this.expect(']');
    }
    const token = this.word('a type');
    return { token, parameters: this.parameters(), bound };
  }

  /** Takes (a, b), if that follows: a list of expressions. */
  parameters() {
    const result = [];
    if (!this.takes('(')) return result;
    do result.push(this.expression());
    while (this.takes(','));
    this.expect(')');
    return result;
  }

  /** Takes [a, b = 1], if that follows: a map of names to expressions, or to undefined. */
  attributes() {
    const result = new Map();
    if (!this.takes('[')) return result;
    do {
      const key = this.word('an attribute');
      if (result.has(key.text)) this.fail(`${key.text} stands twice`, key);
      let value;
      if (this.takes('=')) value = this.next.kind === 'text' ? this.at++ : this.expression();
      result.set(key.text, value);
    } while (this.takes(','));
    this.expect(']');
    return result;
  }

  /** An expression becomes a function that returns its value: a bigint, or a number when a float is part of it. */
  expression() {
    let left = this.product();
    for (let token; (token = this.next), this.takes('+') || this.takes('-');)
      left = this.operation(token, left, this.product());
    return left;
  }

  product() {
    let left = this.operand();
    for (let token; (token = this.next), ['*', '/', '%'].some((sign) => this.takes(sign));)
      left = this.operation(token, left, this.operand());
    return left;
  }

  operation(token, left, right) {
    return () => {
      const values = [left(), right()];
      const whole = values.every((value) => typeof value === 'bigint');
      const [a, b] = whole ? values : values.map(Number);
      if (token.text !== '+' && token.text !== '-' && token.text !== '*' && Number(b) === 0)
        this.fail('this divides by 0', token);
      return {
        '+': () => a + b,
        '-': () => a - b,
        '*': () => a * b,
        '/': () => a / b,
        '%': () => a % b,
      }[token.text]();
    };
  }

  operand() {
    const token = this.next;
    if (this.takes('-')) {
      const value = this.operand();
      return () => -value();
    }
    if (this.takes('(')) {
      const value = this.expression();
      this.expect(')');
      return value;
    }
    this.at++;
    if (token.kind === 'int') return () => BigInt(token.text);
    if (token.kind === 'float') return () => Number(token.text);
    if (token.kind !== 'word') this.fail(`a number is expected, not ${token.text}`, token);
    const part = this.takes('.') ? this.word('Max or Count').text : undefined;
    return () => this.named(token, part);
  }

  /** Returns the value of a constant, of Enum.Max or of Flags.Count. */
  named(token, part) {
    const { text: name } = token;
    if (part === 'Max' && this.enums.has(name)) return BigInt(this.enums.get(name).size());
    if (part === 'Count' && this.flags.has(name)) return BigInt(this.flags.get(name).names.length);
    const value = part === undefined ? this.constants.get(name) : undefined;
    if (!value) this.fail(`there is no constant ${[name, part].filter(Boolean).join('.')}`, token);
    if (this.open?.has(name)) this.fail(`${name} is made of itself`, token);
    this.open = new Set([...(this.open ?? []), name]);
    const result = value();
    this.open.delete(name);
    return result;
  }
}
