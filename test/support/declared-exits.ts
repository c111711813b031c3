import { loadSubcommand } from '../../src/cli/command.ts';
import { commandList } from '../../src/cli/command-list.ts';
import { retiredCommands } from '../../src/cli/retired-commands.ts';

/** The exit codes that the called command can have, by its definition. Usage errors end with 2. */
export async function declaredExits(words: readonly string[]): Promise<readonly number[]> {
  const general = [0, 1, 2];
  const [name = '', next = ''] = words.slice(words.findIndex((word) => Object.hasOwn(commandList, word)));
  const listed = retiredCommands[`${name} ${next}`] ?? retiredCommands[name] ?? commandList[name];
  if (listed === undefined) return general;
  const { command } = await listed.load();
  if (command.kind === 'command') return [...general, ...Object.keys(command.exits).map(Number)];
  const subcommand = command.commands[next];
  if (subcommand === undefined) return general;
  const { exits } = await loadSubcommand(subcommand);
  return [...general, ...Object.keys(exits).map(Number)];
}
