// A project that has the package as its users get it: packed, and unpacked into node_modules.
import { execFileSync } from 'node:child_process';
import { cpSync, mkdirSync, readdirSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { temporaryFolder } from './fixture.mjs';

export const web = fileURLToPath(new URL('../../web', import.meta.url));
/** The packages that only the tests need. */
export const modules = join(web, 'node_modules');

export function packedProject(t) {
  const folder = temporaryFolder(t);
  const run = (program, ...parameters) => {
    try {
      return execFileSync(program, parameters, { cwd: folder, encoding: 'utf8', stdio: 'pipe' });
    } catch (error) {
      throw new Error(`${program} ${parameters.join(' ')}: ${error.stdout}${error.stderr}`);
    }
  };
  const write = (name, text) => writeFileSync(join(folder, name), text);

  run('npm', 'pack', '--silent', '--pack-destination', folder, web);
  const [archive] = readdirSync(folder);
  mkdirSync(join(folder, 'node_modules'));
  run('tar', 'xzf', archive);
  cpSync(join(folder, 'package'), join(folder, 'node_modules/causeway-net'), { recursive: true });
  for (const name of ['ws', '@types', 'undici-types'])
    symlinkSync(join(modules, name), join(folder, 'node_modules', name));
  write('package.json', JSON.stringify({ type: 'module' }));
  return { folder, run, write };
}
