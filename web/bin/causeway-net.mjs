#!/usr/bin/env node
// This is all that a web developer needs to begin with, without a compiler for C:
//   causeway-net init FOLDER              a small game to start from
//   causeway-net dev --server FILE        its page, its game server, tokens and a relay, in one process
//   causeway-net doctor URL               what stands between this machine and a game
import { UsageError, readArguments, usage } from '../dev/arguments.mjs';

const print = (line) => process.stdout.write(`${line}\n`);

async function run(command, options) {
  if (command === 'help') return print(usage);
  if (command === 'init') {
    const { init } = await import('../dev/init.mjs');
    return init(options.folder).forEach(print);
  }
  if (command === 'doctor') {
    const { examine } = await import('../dev/doctor.mjs');
    // Some checks may still wait for what will not come.
    return process.exit((await examine(options, print)) ? 0 : 1);
  }
  const { dev } = await import('../dev/dev.mjs');
  const running = dev(options, print);
  const end = async () => {
    await (await running).close();
    process.exit();
  };
  for (const signal of ['SIGINT', 'SIGTERM']) process.once(signal, end);
  await running;
}

try {
  const { command, options } = readArguments(process.argv.slice(2));
  await run(command, options);
} catch (error) {
  process.stderr.write(`causeway-net: ${error.message}\n`);
  process.exit(error instanceof UsageError ? 2 : 1);
}
