import { readVersion } from '../../platform/package-folder.ts';
import { type Definition, loadSubcommand } from '../command.ts';
import { commandList } from '../command-list.ts';
import { commandsPage, type NamedCommand } from './commands-page.ts';
import { manPage } from './man-page.ts';

/** Every command, in the order of the help; a call loads only its own. */
export async function everyCommand(): Promise<readonly NamedCommand[]> {
  const listed = Object.entries(commandList).map(async ([name, { load }]) =>
    commandsIn(name, (await load()).command),
  );
  return (await Promise.all(listed)).flat();
}

async function commandsIn(name: string, definition: Definition): Promise<readonly NamedCommand[]> {
  if (definition.kind === 'command') return [{ name, command: definition }];
  const subcommands = Object.entries(definition.commands).map(async ([each, listed]) => {
    return { name: `${name} ${each}`, command: await loadSubcommand(listed) };
  });
  return Promise.all(subcommands);
}

export async function commandFiles(): Promise<Readonly<Record<string, string>>> {
  const commands = await everyCommand();
  return {
    'docs/reference/commands.md': commandsPage(commands),
    'docs/man/volley.1': manPage(commands, readVersion()),
  };
}
