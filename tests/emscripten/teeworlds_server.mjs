// Debian's server of Teeworlds, on any free port.
import { temporaryFolder } from '../support/fixture.mjs';
import { freePort } from '../support/free_port.mjs';
import { lineOf, startProgram } from '../support/programs.mjs';

/** Starts the server with a snapshot for each of its 50 ticks a second, unknown to all masters; returns its port. */
export async function startTeeworlds(t, program) {
  const port = await freePort('udp');
  const home = temporaryFolder(t);
  const options = `bindaddr 127.0.0.1; sv_port ${port}; sv_register 0; sv_high_bandwidth 1`;
  const server = startProgram(t, program, [options], {
    cwd: home,
    env: { ...process.env, HOME: home },
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  await lineOf(server, /server name is/); // its socket is open
  return port;
}
