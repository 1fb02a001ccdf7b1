// Each sentence of a comment has a subject. Scripts cannot see that; they see how a sentence begins that has none: with a
// preposition, a pronoun or a conjunction whose noun stands elsewhere, or with a participle. Comments beside a declaration
// begin with a small letter and have its name as their subject, but they do not begin so either.
import assert from 'node:assert/strict';
import { readFileSync, readdirSync } from 'node:fs';
import { extname, join } from 'node:path';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';

const top = fileURLToPath(new URL('../..', import.meta.url));
const FOLDERS = ['core', 'relay', 'tests', 'wasm', 'web'];
const LANGUAGES = ['.c', '.h', '.cpp', '.ts', '.mjs', '.js'];
const ELSEWHERE = ['build', 'corpus', 'dist', 'generated.ts', 'node_modules'];

const COMMENT = /\/\*([^]*?)\*\/|(?:^[ \t]*|[ \t])\/\/([^\n]*(?:\n[ \t]*\/\/[^\n]*)*)/gm;
/** These comments are for tools. */
const DIRECTIVE = /^(eslint|ts-expect-error|clang-format|internal|NOLINT)/;
const WITHOUT_NOUN =
  /^(of|that|those|who|whoever|whose|what|whatever|whether|how|so (many|much|long|far)|as (far|much|many|long)|by|which)\b/i;
const PARTICIPLE =
  /^([A-Z][a-z]+ed|Begun|Done|Given|Held|Kept|Known|Left|Made|Put|Seen|Sent|Set|Taken|Told|Written) (after|as|at|before|by|for|from|if|in|on|once|only|to|until|when|with|without)\b/;

const plain = (comment) =>
  comment
    .replace(/^[ \t]*(\/\/|\*)/gm, ' ')
    .replace(/\s+/g, ' ')
    .trim();

/** Returns the sentences of a source's comments that begin like a part of one, with their lines. */
function withoutSubject(source) {
  const found = [];
  for (const match of source.matchAll(COMMENT)) {
    const comment = plain(match[1] ?? match[2]);
    if (DIRECTIVE.test(comment)) continue;
    const line = source.slice(0, match.index).split('\n').length;
    for (const sentence of comment.split(/(?<=[.:?!]['")]?) (?=[A-Z])/))
      if (!sentence.endsWith('?') && (WITHOUT_NOUN.test(sentence) || PARTICIPLE.test(sentence)))
        found.push(`${line}: ${sentence}`);
  }
  return found;
}

/** Returns the sources of a folder. */
const sourcesIn = (folder) =>
  readdirSync(join(top, folder), { withFileTypes: true }).flatMap((entry) => {
    const name = join(folder, entry.name);
    if (ELSEWHERE.includes(entry.name)) return [];
    if (entry.isDirectory()) return sourcesIn(name);
    return LANGUAGES.includes(extname(name)) ? [name] : [];
  });

test('sentences without a subject are found', () => {
  const sentences = [
    'Of two numbers; NaN does not occur.',
    'Who cuts rounds short acks the newest.',
    'Whether another process may have a session.',
    'Those whom the server does not want stay away.',
    'Called with what is sent.',
    'Sent before the others.',
  ];
  for (const sentence of sentences) {
    assert.deepEqual(withoutSubject(`int a;\n/* ${sentence} */`), [`2: ${sentence}`]);
    assert.deepEqual(withoutSubject(`// It is one.\n// ${sentence}`), [`1: ${sentence}`]);
    assert.deepEqual(withoutSubject(`/**\n * It is one. ${sentence}\n */`), [`1: ${sentence}`]);
  }
  assert.deepEqual(withoutSubject(`#define A 2 ${'/'}* of a packet */`), ['1: of a packet']);
});

test('other sentences are not', () => {
  const sentences = [
    'The larger of two numbers; NaN does not occur.',
    'Returns whether another process may have a session.',
    'Signed and unsigned integers differ in their limits.',
    'Where is it?',
  ];
  for (const sentence of sentences) assert.deepEqual(withoutSubject(`/* ${sentence} */`), []);
  assert.deepEqual(withoutSubject("const url = 'https://of.example/'; /* seconds */"), []);
});

test('each sentence of a comment has a subject', () => {
  const names = FOLDERS.flatMap(sourcesIn);
  assert.ok(names.length > 100, `only ${names.length} sources`);
  const found = names.flatMap((name) =>
    withoutSubject(readFileSync(join(top, name), 'utf8')).map((what) => `${name}:${what}`),
  );
  assert.equal(found.length, 0, `say first what these are about:\n${found.join('\n')}`);
});
