import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { packageFolder } from '../../platform/package-folder.ts';
import { commandList } from '../command-list.ts';
import { type CommandNode, describeCommand, describeOptions } from '../completion/command-tree.ts';
import { globalOptions } from '../global-options.ts';
import { purpose } from '../help-text.ts';
import { commandsPage } from './commands-page.ts';
import { manPage } from './man-page.ts';

/** The program with every command loaded; a call loads only its own. */
export async function everyCommand(): Promise<CommandNode> {
  const commands = Object.entries(commandList).map(async ([name, { summary, load }]) =>
    describeCommand(name, (await load()).command, summary),
  );
  const version = { flags: ['-V', '--version'], summary: 'output the version number' };
  const shared = globalOptions({ setColour: () => undefined, setZone: () => undefined });
  return {
    name: 'volley',
    summary: purpose,
    description: purpose,
    arguments: [],
    options: [version, ...describeOptions(shared)],
    exits: {},
    examples: [],
    commands: await Promise.all(commands),
  };
}

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
