// Writes a small game to start from.
import { cpSync, existsSync, readFileSync, readdirSync, renameSync, writeFileSync } from 'node:fs';
import { basename, join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';

const template = fileURLToPath(new URL('../template', import.meta.url));
const { version } = JSON.parse(readFileSync(new URL('../package.json', import.meta.url), 'utf8'));

/** Makes of a folder's name one that npm takes as the name of a package. */
const packageName = (folder) =>
  basename(folder)
    .toLowerCase()
    .replace(/[^a-z0-9-]+/g, '-')
    .replace(/^-+|-+$/g, '') || 'my-game';

/**
 * Writes the template into a folder, which must be new or empty.
 * @returns the lines that tell how to go on
 */
export function init(folder) {
  const path = resolve(folder);
  if (existsSync(path) && readdirSync(path).length > 0)
    throw new Error(`${folder} is not empty: name a new folder`);
  cpSync(template, path, { recursive: true });
  // npm leaves files named .gitignore out of packages.
  renameSync(join(path, 'gitignore'), join(path, '.gitignore'));
  const file = join(path, 'package.json');
  const text = readFileSync(file, 'utf8');
  writeFileSync(file, text.replace('my-game', packageName(path)).replace('0.0.0', `^${version}`));
  return [
    `A game is in ${folder}. Now:`,
    '',
    `  cd ${folder}`,
    '  npm install',
    '  npm run dev',
    '',
    'For real players, in one process and on one port:',
    '',
    '  npm run build',
    '  npm start',
  ];
}
