import { readFileSync } from 'node:fs';
import { extname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

/** `.ts` in a checkout, `.js` in the package: the compiler does not rewrite names that are put together. */
export const moduleExtension = extname(import.meta.url);

/** The folder with package.json and campaigns/. The package's modules are a folder deeper, in dist/. */
export const packageFolder = fileURLToPath(
  new URL(moduleExtension === '.ts' ? '../../' : '../../../', import.meta.url),
);

/** The version of Volley. */
export function readVersion(): string {
  const packageFile = readFileSync(join(packageFolder, 'package.json'), 'utf8');
  return /"version": "([^"]+)"/.exec(packageFile)?.[1] ?? 'unknown';
}

/** How a person calls the program: a checkout is not on the PATH. */
export const commandToType = moduleExtension === '.ts' ? 'npx --no-install volley' : 'volley';
