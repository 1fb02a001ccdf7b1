// articles.mjs TOP: what core/ARTICLES.md names is there. In its tables, a name behind a link to a file is declared in that
// file, with () as a function; a test has a source, and a name behind a test is a case of it. A row says how it stands, and
// names a file and a test unless nothing is built.
import { existsSync, readFileSync, readdirSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';

const [, , top, guide = 'core/ARTICLES.md'] = process.argv;
const STANDS = ['done', 'otherwise', 'partly', 'not built'];
const read = (path) => readFileSync(join(top, path), 'utf8');

/** Returns a file's code, without the comments and, in JavaScript, with its strings. */
const codeOf = (path) => read(path).replace(/\/\*.*?\*\/|^\s*\/\/.*?$/gms, '');

/** Returns whether a file declares a function, a method or a macro: indented only in JavaScript, as a call would be in C. */
function declares(path, name) {
  const indent = /\.[cm]?[jt]s$/.test(path) ? '(?:  )?' : '';
  const start = `^${indent}[a-zA-Z_][\\w *]*[ *]${name}\\(|^#define ${name}\\(`;
  return new RegExp(start, 'm').test(codeOf(path).replace(/^(typedef|return) .*/gm, ''));
}

/** Returns whether the word is in a file: in its code, or anywhere in a guide. */
const mentions = (path, word) =>
  new RegExp(`\\b${word}\\b`).test(path.endsWith('.md') ? read(path) : codeOf(path));

const sources = readdirSync(join(top, 'tests'), { recursive: true, withFileTypes: true })
  .filter((entry) => entry.isFile() && !/node_modules|corpus|support/.test(entry.parentPath))
  .map((entry) => join(entry.parentPath, entry.name));
const lists = sources.filter((path) => path.endsWith('CMakeLists.txt'));

/** Returns the sources of a test, group.subject: files named after it, or the lists of tests that name it. */
function sourcesOf(test) {
  const [group, subject] = test.split('.');
  const stem = (path) => basename(path).replace(/(\.test)?\.(c|mjs)$/, '');
  const isOf = (path) =>
    [subject, `${group}_${subject}`].includes(stem(path)) ||
    (group === 'bench' && stem(path).startsWith(`${subject}_`));
  const isNamed = (path) => {
    const text = readFileSync(path, 'utf8');
    const inGroup = basename(dirname(path)) === group;
    return text.includes(test) || (inGroup && new RegExp(`\\b${subject}\\b`).test(text));
  };
  const files = sources.filter(isOf);
  return files.length > 0 ? files : lists.filter(isNamed);
}

const hasCase = (files, name) =>
  files.some((path) => readFileSync(path, 'utf8').includes(`TEST(${name})`));

const problems = [];
const counts = { rows: 0, files: 0, names: 0, tests: 0, cases: 0 };

/** Checks a cell of files and the names in them. */
function checkFiles(cell, wrong) {
  let path;
  for (const [, link, name, call] of cell.matchAll(/\]\(([^)#]+)[^)]*\)|`(\w+)(\(\))?`/g)) {
    if (link) {
      path = join(dirname(guide), link);
      counts.files++;
      if (!existsSync(join(top, path))) return wrong(`${path} is not there`);
    } else if (!path) {
      return wrong(`\`${name}\` has no file before it`);
    } else {
      counts.names++;
      if (call ? !declares(path, name) : !mentions(path, name))
        wrong(`${path} does not ${call ? 'declare the function' : 'have'} ${name}`);
    }
  }
  return path;
}

/** Checks a cell of tests and the cases in them. */
function checkTests(cell, wrong) {
  let files;
  for (const [, name] of cell.matchAll(/`([\w.]+)`/g)) {
    if (name.includes('.')) {
      counts.tests++;
      files = sourcesOf(name);
      if (files.length === 0) wrong(`there is no test ${name}`);
    } else {
      counts.cases++;
      if (!files || !hasCase(files, name)) wrong(`there is no TEST(${name}) in the test before it`);
    }
  }
  return files;
}

const rows = read(guide)
  .split('\n')
  .filter((line) => line.startsWith('|'))
  .map((line) => line.split('|').slice(1, -1))
  .filter((cells) => cells.length === 5 && !/^-+$/.test(cells[0]) && cells[1].trim() !== 'stands')
  .map((cells) => cells.map((cell) => cell.trim()));
for (const [term, stands, where, test] of rows) {
  const wrong = (why) => void problems.push(`${term}: ${why}`);
  counts.rows++;
  const file = checkFiles(where, wrong);
  const tests = checkTests(test, wrong);
  if (!STANDS.includes(stands)) wrong(`it stands as "${stands}"`);
  else if (stands !== 'not built' && !(file && tests)) wrong('it names no file or no test');
}
if (counts.rows < 100) problems.push(`${guide} has ${counts.rows} rows only`);
for (const problem of problems) console.error(problem);
console.log(
  `${counts.rows} rows name ${counts.files} files with ${counts.names} names, and ${counts.tests} tests with ${counts.cases} cases`,
);
process.exitCode = problems.length > 0 ? 1 : 0;
