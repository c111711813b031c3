import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { packageFolder } from '../../platform/package-folder.ts';
import { commandsPage } from './commands-page.ts';
import { everyCommand } from './every-command.ts';
import { manPage } from './man-page.ts';

/** The reference of commands, the man page, and what shell completion reads; by path in the package. */
export async function commandFiles(): Promise<Readonly<Record<string, string>>> {
  const tree = await everyCommand();
  const { version }: { version: string } = JSON.parse(
    readFileSync(join(packageFolder, 'package.json'), 'utf8'),
  );
  return {
    'docs/reference/commands.json': `${JSON.stringify(tree, null, 1)}\n`,
    'docs/reference/commands.md': commandsPage(tree),
    'docs/man/volley.1': manPage(tree, version),
  };
}
