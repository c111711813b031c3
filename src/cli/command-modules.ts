import type { Command } from 'commander';
import type { Shell } from './shell.ts';

/**
 * A command's module: declares its arguments, options and action, and its subcommands.
 *
 * `words` are all of the command line.
 */
export type CommandModule = {
  readonly define: (command: Command, shell: Shell, words: readonly string[]) => void | Promise<void>;
};

/** Modules by the name of their command. */
export type CommandModules = Readonly<Record<string, () => Promise<CommandModule>>>;

/** Defines the subcommand whose name stands after that of its command; all of them where none does, as for the help. */
export async function defineCalled(
  modules: CommandModules,
  command: Command,
  shell: Shell,
  words: readonly string[],
): Promise<void> {
  const name = words[words.indexOf(command.name()) + 1] ?? '';
  const called = Object.hasOwn(modules, name) ? modules[name] : undefined;
  for (const load of called ? [called] : Object.values(modules)) {
    await (await load()).define(command, shell, words);
  }
}
