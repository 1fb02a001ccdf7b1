#!/usr/bin/env node
// Writes the C header of a schema that is declared in JavaScript or TypeScript, so that both sides have one source:
//   causeway-schema FILE [EXPORT] > schema.h
// FILE exports what schema() gives, under the name EXPORT (default: the only schema that it exports). A struct()
// that it exports has its name in C too, as have the names of an enumeration() and of flags(). A file of the schema language becomes a C header or a TypeScript module:
//   causeway-schema FILE.schema > schema.h
//   causeway-schema --typescript FILE.schema > schema.ts
import { readFileSync } from 'node:fs';
import { basename } from 'node:path';
import { pathToFileURL } from 'node:url';
import * as api from '../dist/core/index.js';
import * as root from '../dist/index.js';
import { cHeader } from '../dist/messages/header.js';
import {
  constantsOf,
  declarationsOf,
  namedValues,
  readSchemaLanguage,
  typeScriptOf,
} from './schema_language.mjs';
import { importTypeScript } from './typescript.mjs';

const fail = (text, code) => {
  process.stderr.write(`causeway-schema: ${text}\n`);
  process.exit(code);
};

const typeScript = process.argv[2] === '--typescript';
const [file, wanted, ...more] = process.argv.slice(typeScript ? 3 : 2);
const isLanguage = file?.endsWith('.schema');
if (!file || file.startsWith('-') || more.length > 0 || (typeScript && !isLanguage))
  fail(
    `usage: causeway-schema FILE [EXPORT] > schema.h
       causeway-schema --typescript FILE.schema > schema.ts`,
    file === '--help' ? 0 : 2,
  );

const isSchema = (value) => Array.isArray(value?.types) && value.encoded instanceof Uint8Array;

/** Returns what the file exports. */
const exportsOf = (read) => {
  if (read) return declarationsOf(read, api);
  return /\.m?ts$/.test(file) ? importTypeScript(file) : import(pathToFileURL(file));
};

try {
  const read = isLanguage ? readSchemaLanguage(file, readFileSync(file, 'utf8')) : undefined;
  if (typeScript) {
    process.stdout.write(typeScriptOf(read, basename(file), root));
    process.exit();
  }
  const module = await exportsOf(read);
  const names = Object.keys(module).filter((name) => isSchema(module[name]));
  const name = wanted ?? names[0];
  if (names.length !== 1 && !wanted)
    fail(`${file} exports ${names.length} schemas; say which one`, 1);
  if (!isSchema(module[name])) fail(`${file} exports no schema ${name}`, 1);
  const print = api.fingerprint(await api.loadCore(), module[name]);
  const structs = Object.entries(module).filter(([, value]) => value?.kind === 'struct');
  const structNames = new Map(structs.map(([structName, { fields }]) => [fields, structName]));
  const header = cHeader(module[name], name, basename(file), print, structNames);
  const constants = constantsOf(read ?? namedValues(module));
  process.stdout.write(header.replace(/(?=#endif\s*$)/, constants && `${constants}\n`));
} catch (error) {
  fail(String(error?.message ?? error), 1);
}
