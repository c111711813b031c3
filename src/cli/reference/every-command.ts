import { Command } from 'commander';
import { type CommandNode, readCommandTree } from '../completion/command-tree.ts';
import { buildProgram } from '../main.ts';
import type { Shell } from '../shell.ts';

const unchanged = { setColour: () => undefined, setZone: () => undefined };

/** The program with every command loaded; a call loads only its own. */
export async function everyCommand(shell: Shell): Promise<CommandNode> {
  const program = await buildProgram([], shell, unchanged);
  const commands = await Promise.all(
    program.commands.map(async (command) => {
      const { commands: loaded } = await buildProgram([command.name()], shell, unchanged);
      return loaded.find((each) => each.name() === command.name()) ?? new Command();
    }),
  );
  return { ...readCommandTree(program), commands: commands.map(readCommandTree) };
}
