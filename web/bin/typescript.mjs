// Schemas in TypeScript: compiled by the compiler of the project that they are in, as Node 20 reads none.
import { execFileSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join, parse, relative, resolve } from 'node:path';
import { pathToFileURL } from 'node:url';

/** The program tsc that the file's own project has. */
function compiler(file) {
  try {
    const packageFile = createRequire(file).resolve('typescript/package.json');
    return join(dirname(packageFile), JSON.parse(readFileSync(packageFile, 'utf8')).bin.tsc);
  } catch {
    throw new Error(
      `${file} is TypeScript: npm install --save-dev typescript, or compile it and give me the JavaScript`,
    );
  }
}

/** The module that the file becomes, with all that it imports. Types are not checked: that is the build's part. */
export async function importTypeScript(name) {
  const file = resolve(name);
  const tsc = compiler(file);
  // Beside the file, so that what it imports by name is found.
  const folder = mkdtempSync(join(dirname(file), '.causeway-schema-'));
  const { root } = parse(file);
  const compilerOptions = {
    target: 'ES2022',
    module: 'ESNext',
    moduleResolution: 'Bundler',
    rootDir: root,
    outDir: folder,
    allowJs: true,
    noCheck: true,
    types: [],
  };
  try {
    writeFileSync(join(folder, 'package.json'), '{ "type": "module" }');
    writeFileSync(
      join(folder, 'tsconfig.json'),
      JSON.stringify({ compilerOptions, files: [file] }),
    );
    execFileSync(process.execPath, [tsc, '-p', folder], { encoding: 'utf8', stdio: 'pipe' });
    const script = file.replace(/ts$/, 'js');
    return await import(pathToFileURL(join(folder, relative(root, script))));
  } catch (error) {
    throw error.stdout ? new Error(error.stdout.trim().split('\n')[0]) : error;
  } finally {
    rmSync(folder, { recursive: true });
  }
}
