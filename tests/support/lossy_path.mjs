// Runs modules behind links with delay and loss: in a network namespace of their own, each link of which is two TUN
// devices and a program between them. The caller must itself run under "unshare -Urn".
import { execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';

/** Returns the addresses of both ends of the link with this number. */
const ends = (number) => [`10.99.${number}.1`, `10.99.${number}.2`];

export const [near] = ends(0);

const run = ([name, ...words]) => execFileSync(name, words);

/** Starts the far side, to which there is no link yet. */
export async function startFarSide() {
  run(['ip', 'link', 'set', 'lo', 'up']);
  // sh says when unshare has made the namespace.
  const holder = spawn('unshare', ['-n', 'sh', '-c', 'echo ready; exec cat'], {
    stdio: ['pipe', 'pipe', 'inherit'],
  });
  await once(holder.stdout, 'data');
  const inside = (...words) => ['nsenter', '-t', String(holder.pid), '-n', ...words];
  run(inside('ip', 'link', 'set', 'lo', 'up'));
  const links = [];

  return {
    /** Makes the next link, number 0 first; `delay` and `jitter`, which adds to it, are in milliseconds, one way. */
    async join({ delay, jitter = 0, seed }) {
      const [nearDevice, farDevice] = [`cw${2 * links.length}`, `cw${2 * links.length + 1}`];
      const [nearAddress, farAddress] = ends(links.length);
      const program = process.env.CAUSEWAY_LOSSY_LINK;
      const words = [nearDevice, farDevice, delay, jitter, seed].map(String);
      const link = spawn(program, words, { stdio: ['pipe', 'pipe', 'inherit'] });
      links.push(link);
      const lines = createInterface(link.stdout);
      await once(lines, 'line');
      run(['ip', 'link', 'set', farDevice, 'netns', String(holder.pid)]);
      run(['ip', 'addr', 'add', `${nearAddress}/24`, 'dev', nearDevice]);
      run(['ip', 'link', 'set', nearDevice, 'up']);
      run(inside('ip', 'addr', 'add', `${farAddress}/24`, 'dev', farDevice));
      run(inside('ip', 'link', 'set', farDevice, 'up'));
      return {
        farDevice,
        /** Loses this share of the packets in either direction from now on. */
        lose: async (percent) => {
          link.stdin.write(`loss ${percent}\n`);
          await once(lines, 'line');
        },
      };
    },
    /** Runs a program on the far side to its end. */
    run: (...words) => run(inside(...words)),
    /** Starts a Node module on the far side. */
    start: (module, ...values) => {
      const [name, ...words] = inside(process.execPath, module, ...values);
      return spawn(name, words, { stdio: ['pipe', 'pipe', 'inherit'] });
    },
    stop: () => {
      for (const link of links) link.stdin.end();
      holder.stdin.end();
    },
  };
}

/** Starts a far side with one link. */
export async function startLossyPath(options) {
  const side = await startFarSide();
  const { lose } = await side.join(options);
  return { lose, start: side.start, stop: side.stop };
}
