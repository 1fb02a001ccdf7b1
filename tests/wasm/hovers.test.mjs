// Editors show values as the objects that they are, and offer the names of messages, as TypeScript tells them.
import assert from 'node:assert/strict';
import { existsSync, readFileSync } from 'node:fs';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { dist, require } from '../support/causeway.mjs';

const ts = require('typescript5');
const SOURCE = `
import {
  array, bits, connect, enumeration, f32, flags, message, optional, request, schema, string, struct,
  type MessageValue,
} from 'causeway-net';
import { listen } from 'causeway-net/server';
const point = struct({ x: f32(), y: f32() });
const messages = schema(
  message('say', { text: string(200) }, { reliable: true }),
  message('ship', {
    at: point, target: optional(point), shots: array(struct({ at: point, kind: bits(3) }), 8),
    team: enumeration('none', 'red'), can: flags('swim', 'fly'),
  }),
  message('ping', {}),
  request('enter', { name: string(16) }, { here: array(string(16), 64) }),
);
type Say = MessageValue<typeof messages, 'say'>;
const client = await connect('https://x/', { token: new Uint8Array(2048), schema: messages });
const arrived = client.next()!;
if (arrived.type === 'say') { const said = arrived.value; }
if (arrived.type === 'ship') { const ship = arrived.value; }
if (arrived.type === 'ping') { const ping = arrived.value; }
const answer = await client.request('enter', { name: '' });
client.answer('enter', (question) => ({ here: [] }));
const server = await listen({ protocolId: 1n, schema: messages });
server.answer('enter', (asked, player) => ({ here: [] }));
client.send('say', { text: '' });
client.track('', { text: '' });
export {};`;

const file = fileURLToPath(new URL('../hovers.ts', dist));
const built = (path) => [fileURLToPath(new URL(path, dist))];
const options = {
  strict: true,
  noEmit: true,
  target: ts.ScriptTarget.ES2022,
  module: ts.ModuleKind.ESNext,
  moduleResolution: ts.ModuleResolutionKind.Bundler,
  lib: ['lib.es2022.d.ts', 'lib.dom.d.ts'],
  types: [],
  paths: {
    'causeway-net': built('index.d.ts'),
    'causeway-net/server': built('server/index.d.ts'),
  },
};
const textOf = (path) => {
  if (path === file) return SOURCE;
  return existsSync(path) ? readFileSync(path, 'utf8') : undefined;
};
const service = ts.createLanguageService({
  ...ts.sys,
  useCaseSensitiveFileNames: () => true,
  getCompilationSettings: () => options,
  getScriptFileNames: () => [file],
  getScriptVersion: () => '1',
  getScriptSnapshot: (path) => {
    const text = textOf(path);
    return text === undefined ? undefined : ts.ScriptSnapshot.fromString(text);
  },
  getCurrentDirectory: () => fileURLToPath(dist),
  getDefaultLibFileName: ts.getDefaultLibFilePath,
});

/** Returns what an editor shows at a text of the source, in one line. */
function shown(text) {
  const at = SOURCE.indexOf(text);
  assert.ok(at >= 0, text);
  const { displayParts } = service.getQuickInfoAtPosition(file, at);
  return ts.displayPartsToString(displayParts).replace(/\s+/g, ' ');
}

const POINT = '{ x: number; y: number; }';
for (const [text, what] of [
  ['Say =', 'type Say = { text: string; }'],
  ['said =', 'const said: { text: string; }'],
  [
    'ship =',
    `const ship: { at: ${POINT}; shots: { at: ${POINT}; kind: number; }[]; team: "none" | "red"; ` +
      `can: Record<"swim" | "fly", boolean>; target?: ${POINT} | undefined; }`,
  ],
  ['ping =', 'const ping: Record<string, never>'],
  ['answer =', 'const answer: { here: string[]; }'],
  ['question)', '(parameter) question: { name: string; }'],
  ['asked,', '(parameter) asked: { name: string; }'],
])
  test(`an editor shows ${what}`, () => assert.equal(shown(text), what));

test('a call shows the value that it takes', () =>
  assert.match(
    shown("send('say'"),
    /\.send<"say">\(type: "say", value: { text: string; }\): void/,
  ));

test('the names of messages are offered, and nothing else is taken', () => {
  const at = SOURCE.indexOf("track('") + "track('".length;
  const { entries } = service.getCompletionsAtPosition(file, at, {});
  assert.deepEqual(entries.map(({ name }) => name).sort(), ['ping', 'say', 'ship']);
  const wrong = service.getSemanticDiagnostics(file);
  assert.deepEqual(
    wrong.map(({ start }) => SOURCE.slice(start).split('(')[0]),
    ["'', { text: '' });\nexport {};"],
  );
});
