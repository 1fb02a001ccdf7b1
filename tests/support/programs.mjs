// Other programs, and what the system says of their processes.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync, readdirSync } from 'node:fs';
import { createInterface } from 'node:readline';
import { own } from './fixture.mjs';
import { patiently, sleep } from './patience.mjs';

/**
 * Starts a program that is killed when the test ends. The kernel kills it when this process ends, even by a crash:
 * otherwise the program would keep the output open that node:test reads to its end.
 */
export function startProgram(t, program, args, options) {
  if (!program) throw new Error('the environment must name the program: run the test by CTest');
  const child = spawn('setpriv', ['--pdeathsig', 'KILL', program, ...args], options);
  const ended = once(child, 'exit');
  own(t, async () => {
    if (child.exitCode !== null || child.signalCode !== null) return;
    child.kill('SIGKILL');
    await patiently(ended, `the end of ${program}`);
  });
  return child;
}

/** Resolves with the first line of a program that matches, whose later lines are read too, or it could not write them. */
export function lineOf(child, pattern, output = child.stdout) {
  const said = [];
  const found = new Promise((resolve, reject) => {
    createInterface(output).on('line', (line) => {
      said.push(line);
      const match = pattern.exec(line);
      if (match) resolve(match);
    });
    child.once('error', reject);
    child.once('close', (code) => reject(new Error(`it ended with ${code}:\n${said.join('\n')}`)));
  });
  return patiently(found, () => `${pattern} from a program, which said:\n${said.join('\n')}`);
}

/** Runs a program to its end. */
export async function runProgram(program, args, options) {
  const child = startProgram(null, program, args, options);
  let stdout = '';
  let stderr = '';
  child.stdout.on('data', (data) => (stdout += data));
  child.stderr.on('data', (data) => (stderr += data));
  const [code] = await patiently(once(child, 'close'), `the end of ${program} ${args.join(' ')}`);
  return { code, stdout, stderr };
}

/** Returns whether a process has not ended; its parent may not have looked yet. */
export function isAlive(pid) {
  try {
    return !/^\d+ \(.*\) Z/.test(readFileSync(`/proc/${pid}/stat`, 'utf8'));
  } catch {
    return false;
  }
}

/** Returns the ids of the processes that a process has started. */
export const childrenOf = (pid) =>
  readFileSync(`/proc/${pid}/task/${pid}/children`, 'ascii')
    .trim()
    .split(' ')
    .filter(Boolean)
    .map(Number);

/** Returns the milliseconds of processor time that a process has used. */
export const processorTime = (pid) =>
  Number(readFileSync(`/proc/${pid}/schedstat`, 'ascii').split(' ')[0]) / 1e6;

/** Returns the milliseconds for which the threads of a process were ready to run and had no core. */
function waitOf(pid) {
  let sum = 0;
  for (const thread of readdirSync(`/proc/${pid}/task`)) {
    try {
      const schedule = readFileSync(`/proc/${pid}/task/${thread}/schedstat`, 'ascii');
      sum += Number(schedule.split(' ')[1]) / 1e6;
    } catch {
      // The thread has ended meanwhile.
    }
  }
  return sum;
}

/**
 * Starts a clock that stands still while one of these processes waits for a core, so that what it shows does not depend
 * on what else the machine does. Returns a function that returns the milliseconds since its start.
 */
export function startClock(...pids) {
  const now = () => performance.now() - pids.reduce((sum, pid) => sum + waitOf(pid), 0);
  const begun = now();
  return () => now() - begun;
}

/** Rejects when the promise takes more than so many milliseconds of a clock; `what` makes the message. */
export function inTime(promise, milliseconds, clock, what) {
  let over = false;
  const late = async () => {
    while (!over && clock() < milliseconds) await sleep(50);
    if (!over) throw new Error(`waited in vain for ${what()}`);
  };
  return Promise.race([promise, late()]).finally(() => (over = true));
}

/** Returns the kilobytes of memory that a process has. */
export const memoryOf = (pid) =>
  Number(/^VmRSS:\s+(\d+) kB$/m.exec(readFileSync(`/proc/${pid}/status`, 'ascii'))[1]);

/** Returns the number of file descriptors that a process has. */
export const descriptorsOf = (pid) => readdirSync(`/proc/${pid}/fd`).length;
