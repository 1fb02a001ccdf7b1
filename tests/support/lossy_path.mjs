// Runs a module behind a link with delay and loss: in a network namespace of its own, which is joined
// to this one's by two TUN devices and a program between them. Must itself run under "unshare -Urn".
import { execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';

export const near = '10.99.0.1';
const far = '10.99.0.2';

export async function startLossyPath({ delay, seed }) {
  const ip = (...words) => execFileSync('ip', words);
  const program = process.env.CAUSEWAY_LOSSY_LINK;
  ip('link', 'set', 'lo', 'up');
  // sh says when unshare has made the namespace.
  const holder = spawn('unshare', ['-n', 'sh', '-c', 'echo ready; exec cat'], {
    stdio: ['pipe', 'pipe', 'inherit'],
  });
  await once(holder.stdout, 'data');
  const inside = (...words) => ['nsenter', '-t', String(holder.pid), '-n', ...words];
  const run = ([name, ...words]) => execFileSync(name, words);

  const link = spawn(program, ['cw0', 'cw1', String(delay), String(seed)], {
    stdio: ['pipe', 'pipe', 'inherit'],
  });
  const lines = createInterface(link.stdout);
  await once(lines, 'line');
  ip('link', 'set', 'cw1', 'netns', String(holder.pid));
  ip('addr', 'add', `${near}/24`, 'dev', 'cw0');
  ip('link', 'set', 'cw0', 'up');
  run(inside('ip', 'link', 'set', 'lo', 'up'));
  run(inside('ip', 'addr', 'add', `${far}/24`, 'dev', 'cw1'));
  run(inside('ip', 'link', 'set', 'cw1', 'up'));

  return {
    /** Loses this share of the packets in either direction from now on. */
    lose: async (percent) => {
      link.stdin.write(`loss ${percent}\n`);
      await once(lines, 'line');
    },
    /** Starts a Node module on the far side. */
    start: (module, ...values) => {
      const [name, ...words] = inside(process.execPath, module, ...values);
      return spawn(name, words, { stdio: ['pipe', 'pipe', 'inherit'] });
    },
    stop: () => {
      link.stdin.end();
      holder.stdin.end();
    },
  };
}
