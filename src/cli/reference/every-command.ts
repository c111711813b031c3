import { commandList } from '../command-list.ts';
import { type CommandNode, describeCommand, describeOption } from '../completion/command-tree.ts';
import { globalOptions } from '../global-options.ts';
import { purpose } from '../help-text.ts';

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
    options: [version, ...shared.map(describeOption)],
    exits: {},
    examples: [],
    commands: await Promise.all(commands),
  };
}
