// check.mjs TOP FOLDER: searches the models of ownership with Spin. Each size has no violation, and each mutant, which lacks
// one guard, has one. `file:function` in a comment of a model names the function that a step stands for.
import { execFileSync } from 'node:child_process';
import { mkdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

const [, , top, folder] = process.argv;
const MODELS = ['sessions', 'slots'];

const NO_FAULTS = ['-DDEATHS=0', '-DREFUSALS=0', '-DEXPIRIES=0'];

/** These are searched: all states, or, with a number n at the end, as many as a table of 2^n bytes tells apart. */
const SIZES = [
  ['sessions', '2 workers, 1 page', ['-DLOSSES=1']],
  ['sessions', '3 workers, 1 page', ['-DWORKERS=3', '-DLOSSES=1', ...NO_FAULTS]],
  ['sessions', '2 workers, 2 pages', ['-DPAGES=2', '-DLOSSES=0', ...NO_FAULTS]],
  ['sessions', '2 workers, upgraded', ['-DUPGRADE', '-DLATE=0', '-DLOSSES=0', ...NO_FAULTS]],
  ['sessions', '3 workers, 4 pages', ['-DWORKERS=3', '-DPAGES=4', '-DCHANNEL=8'], 17],
  ['slots', '1 player with 2 programs, 3 addresses', ['-DADDRESSES=3', '-DTRIPS=1']],
  ['slots', '2 players, 2 addresses', ['-DPROGRAMS=1', '-DTRIPS=1']],
  [
    'slots',
    '2 players with 2 programs, 2 servers',
    ['-DCLIENTS=4', '-DADDRESSES=5', '-DSERVERS=2'],
    12,
  ],
];

/** The guards, each with the flags that remove it. */
const MUTANTS = [
  ['sessions', 'the old worker gives the session up', '-DNO_RELEASE'],
  ['sessions', 'a worker that takes no message is killed', '-DNO_KILL'],
  ['sessions', 'nothing is asked while an answer is late', '-DNO_SINGLE_QUESTION'],
  ['sessions', 'channels are read before a session is denied', '-DNO_DRAIN'],
  [
    'sessions',
    'those of workers that ask, too',
    '-DNO_READING_OF_ASKERS',
    '-DPAGES=2',
    '-DLOSSES=0',
    ...NO_FAULTS,
  ],
  [
    'sessions',
    'and before an upgrade',
    '-DNO_READING_BEFORE_UPGRADE',
    '-DUPGRADE',
    '-DLATE=0',
    ...NO_FAULTS,
  ],
  ['sessions', 'a session asks again before each datagram', '-DNO_SECOND_LOOKUP'],
  ['sessions', 'an unanswered session makes way', '-DNO_MAKE_WAY'],
  ['sessions', 'only the owner withdraws a session', '-DNO_OWNER_CHECK_IN_FORGET'],
  ['slots', 'an older token takes nothing over', '-DNEWER_TOKEN=0'],
  ['slots', 'the farewell comes before the new client', '-DFAREWELL=0'],
  ['slots', 'nobody moves to the address of another', '-DOTHER_AT_ADDRESS=0', '-DPROGRAMS=1'],
  ['slots', 'the answer comes from where the challenge went', '-DADDRESS_IN_PROOF=0'],
  ['slots', 'an older challenge moves nobody back', '-DOLDEST_CHALLENGE=0'],
  ['slots', 'a client heeds no answer to an earlier move', '-DFIRST_OF_MOVE=0', '-DTRIPS=3'],
];

const read = (path) => readFileSync(join(top, path), 'utf8');

/** Returns the names behind file: in a model that are not defined in that file. */
function missing(model) {
  const named = [...read(`tests/model/${model}.pml`).matchAll(/([\w/]+\.c):(\w+)/g)];
  if (named.length < 10) return [`tests/model/${model}.pml names ${named.length} functions only`];
  return named
    .filter(
      ([, path, name]) =>
        !new RegExp(`^[a-z][\\w *]*[ *]${name}\\([^;]*?\\)\\s*\\{`, 'm').test(read(path)),
    )
    .map(([text]) => `tests/model/${model}.pml: ${text} is not there`);
}

/** Searches a model. Returns the number of states, and whether a violation was found. */
function search(model, flags, sample) {
  const cwd = join(folder, `${model}${flags.join('')}`);
  mkdirSync(cwd, { recursive: true });
  const run = (program, ...options) =>
    execFileSync(program, options, { cwd, encoding: 'utf8', maxBuffer: 1 << 26 });
  run('spin', '-a', ...flags, join(top, 'tests/model', `${model}.pml`));
  // It takes a third of GCC's time.
  run(
    'clang',
    '-O0',
    '-w',
    '-DSAFETY',
    '-DVECTORSZ=4096',
    sample ? '-DBITSTATE' : '-DCOLLAPSE',
    '-o',
    'pan',
    'pan.c',
  );
  const out = run('./pan', '-E', '-n', '-m200000', `-w${sample ? sample + 3 : 22}`);
  if (!sample && /max search depth too small/.test(out))
    throw new Error(`${model} ${flags}: the search is not deep enough`);
  const [, states] = /(\d+) states, stored/.exec(out) ?? [];
  return { states: Number(states), violated: !/errors: 0/.test(out) };
}

const problems = MODELS.flatMap(missing);
for (const [model, title, flags, sample] of SIZES) {
  const { states, violated } = search(model, flags, sample);
  console.log(`${model}, ${title}: ${states} states, ${sample ? 'a sample' : 'all'}`);
  if (violated) problems.push(`${model}, ${title}: violated; \`spin -t\` in ${folder} shows how`);
}
for (const [model, guard, ...flags] of MUTANTS) {
  const { states, violated } = search(model, flags);
  console.log(
    `${model} without "${guard}": ${violated ? 'violated' : 'holds'} after ${states} states`,
  );
  if (!violated)
    problems.push(`${model} holds without "${guard}", so the model does not see what that is for`);
}
for (const problem of problems) console.error(problem);
process.exitCode = problems.length > 0 ? 1 : 0;
