// check.mjs TOP FOLDER: searches the models of ownership with Spin. Each size has no violation, and each mutant, which lacks
// one guard, has one. `file:function` in a comment of a model names the function that a step stands for.
import { execFileSync } from 'node:child_process';
import { mkdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

const [, , top, folder] = process.argv;

const NO_FAULTS = ['-DDEATHS=0', '-DREFUSALS=0', '-DEXPIRIES=0'];

/** These are searched: all states, or, with a number n at the end, as many as a table of 2^n bytes tells apart. */
const SIZES = {
  sessions: {
    '2 workers, 1 page': [['-DLOSSES=1']],
    '3 workers, 1 page': [['-DWORKERS=3', '-DLOSSES=1', ...NO_FAULTS]],
    '2 workers, 2 pages': [['-DPAGES=2', '-DLOSSES=0', ...NO_FAULTS]],
    '2 workers, upgraded': [['-DUPGRADE', '-DLATE=0', '-DLOSSES=0', ...NO_FAULTS]],
    '3 workers, 4 pages': [['-DWORKERS=3', '-DPAGES=4', '-DCHANNEL=8'], 17],
  },
  slots: {
    '1 player with 2 programs': [['-DADDRESSES=3', '-DTRIPS=3']],
    '2 players': [['-DPROGRAMS=1', '-DADDRESSES=4', '-DTRIPS=2']],
    '2 players, nobody is timed out': [
      ['-DPROGRAMS=1', '-DADDRESSES=4', '-DTRIPS=2', '-DTIMEOUTS=0'],
    ],
    '2 players with 2 programs': [['-DCLIENTS=4', '-DADDRESSES=4', '-DTRIPS=0', '-DCHALLENGES=3']],
    '2 players with 2 programs, 2 servers': [['-DCLIENTS=4', '-DADDRESSES=5', '-DSERVERS=2'], 12],
  },
};

/** The guards, each with the size that holds with it, and the flag that removes it. */
const MUTANTS = {
  sessions: [
    ['the old worker gives the session up', '2 workers, 1 page', '-DNO_RELEASE'],
    ['a worker that takes no message is killed', '2 workers, 1 page', '-DNO_KILL'],
    ['nothing is asked while an answer is late', '2 workers, 1 page', '-DNO_SINGLE_QUESTION'],
    ['channels are read before a session is denied', '2 workers, 1 page', '-DNO_DRAIN'],
    ['those of workers that ask, too', '2 workers, 2 pages', '-DNO_READING_OF_ASKERS'],
    ['and before an upgrade', '2 workers, upgraded', '-DNO_READING_BEFORE_UPGRADE'],
    ['a session asks again before each datagram', '2 workers, 1 page', '-DNO_SECOND_LOOKUP'],
    ['an unanswered session makes way', '2 workers, 1 page', '-DNO_MAKE_WAY'],
    ['only the owner withdraws a session', '2 workers, 1 page', '-DNO_OWNER_CHECK_IN_FORGET'],
  ],
  slots: [
    ['an older token takes nothing over', '1 player with 2 programs', '-DNEWER_TOKEN=0'],
    ['the farewell comes before the new client', '1 player with 2 programs', '-DFAREWELL=0'],
    ['nobody moves to the address of another', '2 players', '-DOTHER_AT_ADDRESS=0'],
    ['a token connects once', '1 player with 2 programs', '-DCONSUMED=0'],
    ['the challenge of a connection moves nobody', '1 player with 2 programs', '-DMOVE_BIT=0'],
    ['the answer comes from where the challenge went', '2 players', '-DADDRESS_IN_PROOF=0'],
    ['an older challenge moves nobody back', '2 players', '-DOLDEST_CHALLENGE=0'],
    [
      'a client heeds no answer to an earlier move',
      '1 player with 2 programs',
      '-DFIRST_OF_MOVE=0',
    ],
    ['a client heeds no challenge again', '1 player with 2 programs', '-DNEWEST_HEARD=0'],
    ['a request from elsewhere begins a move', '2 players, nobody is timed out', '-DANY_ADDRESS=0'],
  ],
};

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
    ...(sample ? ['-DBITSTATE'] : ['-DCOLLAPSE', '-DJOINPROCS']),
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

const problems = Object.keys(SIZES).flatMap(missing);
for (const model of Object.keys(SIZES)) {
  for (const [title, [flags, sample]] of Object.entries(SIZES[model])) {
    const { states, violated } = search(model, flags, sample);
    console.log(`${model}, ${title}: ${states} states, ${sample ? 'a sample' : 'all'}`);
    if (violated) problems.push(`${model}, ${title}: violated; \`spin -t\` in ${folder} shows how`);
  }
  for (const [guard, title, flag] of MUTANTS[model]) {
    const { states, violated } = search(model, [...SIZES[model][title][0], flag]);
    console.log(
      `${model} without "${guard}": ${violated ? 'violated' : 'holds'} after ${states} states`,
    );
    if (!violated)
      problems.push(
        `${model} holds without "${guard}", so the model does not see what that is for`,
      );
  }
}
for (const problem of problems) console.error(problem);
process.exitCode = problems.length > 0 ? 1 : 0;
