#!/usr/bin/env node
// Writes the C header of a schema that is declared in JavaScript or TypeScript, so that both sides have one source:
//   causeway-schema FILE [EXPORT] > schema.h
// FILE exports what schema() gives, under the name EXPORT (default: the only schema that it exports). A struct()
// that it exports has its name in C too.
import { basename } from 'node:path';
import { pathToFileURL } from 'node:url';
import { fingerprint, loadCore } from '../dist/index.js';
import { cHeader } from '../dist/messages/header.js';
import { importTypeScript } from './typescript.mjs';

const fail = (text, code) => {
  process.stderr.write(`causeway-schema: ${text}\n`);
  process.exit(code);
};

const [file, wanted, ...more] = process.argv.slice(2);
if (!file || file.startsWith('-') || more.length > 0)
  fail('usage: causeway-schema FILE [EXPORT] > schema.h', file === '--help' ? 0 : 2);

const isSchema = (value) => Array.isArray(value?.types) && value.encoded instanceof Uint8Array;

try {
  const module = await (/\.m?ts$/.test(file)
    ? importTypeScript(file)
    : import(pathToFileURL(file)));
  const names = Object.keys(module).filter((name) => isSchema(module[name]));
  const name = wanted ?? names[0];
  if (names.length !== 1 && !wanted)
    fail(`${file} exports ${names.length} schemas; say which one`, 1);
  if (!isSchema(module[name])) fail(`${file} exports no schema ${name}`, 1);
  const print = fingerprint(await loadCore(), module[name]);
  const structs = Object.entries(module).filter(([, value]) => value?.kind === 'struct');
  const structNames = new Map(structs.map(([structName, { fields }]) => [fields, structName]));
  process.stdout.write(cHeader(module[name], name, basename(file), print, structNames));
} catch (error) {
  fail(String(error?.message ?? error), 1);
}
