// Writes the generated files of the commands (`npm run docs`).
import { mkdirSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { packageFolder } from '../../platform/package-folder.ts';
import { commandFiles } from './every-command.ts';

for (const [path, text] of Object.entries(await commandFiles())) {
  mkdirSync(dirname(join(packageFolder, path)), { recursive: true });
  writeFileSync(join(packageFolder, path), text);
}
