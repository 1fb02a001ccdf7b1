// quotes.mjs TOP: a block of code in a guide whose first line names a file, as ```c examples/echo_server.c does, is the
// text of that file or consecutive lines of it, without their common indentation. So each example stands in one place.
// Each file of the examples is named by a guide.
import assert from 'node:assert/strict';
import { readFileSync, readdirSync } from 'node:fs';
import { dirname, join } from 'node:path';

const [, , top] = process.argv;
const GUIDES = ['README.md', 'core', 'core/protocols', 'relay', 'wasm', 'web'];
const EXAMPLES = ['core/examples', 'web/examples'];
const QUOTE = /^```[a-z]+ (\S+)\n(.*?)^```$/gms;

const guides = GUIDES.flatMap((name) =>
  name.endsWith('.md')
    ? [name]
    : readdirSync(join(top, name))
        .filter((file) => file.endsWith('.md'))
        .map((file) => join(name, file)),
);
const read = (name) => readFileSync(join(top, name), 'utf8');

/** Takes from all lines the spaces that they have in common. */
function dedent(lines) {
  const indents = lines.filter(Boolean).map((line) => /^ */.exec(line)[0].length);
  return lines.map((line) => line.slice(Math.min(...indents)));
}

/** Returns whether the file has these lines one after the other. */
function holds(file, quote) {
  const lines = file.split('\n');
  return lines.some(
    (_, at) => dedent(lines.slice(at, at + quote.length)).join('\n') === quote.join('\n'),
  );
}

let quotes = 0;
for (const guide of guides)
  for (const [, name, text] of read(guide).matchAll(QUOTE)) {
    const file = join(dirname(guide), name);
    const quote = text.replace(/\n$/, '').split('\n');
    assert.ok(holds(read(file), quote), `${guide} does not quote ${file} as it is`);
    quotes++;
  }

const texts = guides.map(read);
for (const folder of EXAMPLES)
  for (const file of readdirSync(join(top, folder)))
    assert.ok(
      texts.some((text) => text.includes(file)),
      `no guide names ${folder}/${file}`,
    );
console.log(`${quotes} quotes of examples`);
