import type { Command } from 'commander';
import type { Shell } from './shell.ts';

/** `words` is the whole command line. */
export type CommandModule = {
  readonly define: (command: Command, shell: Shell, words: readonly string[]) => void | Promise<void>;
};

export type CommandModules = Readonly<Record<string, () => Promise<CommandModule>>>;

/** Defines the subcommand that is called, or all of them for the help. */
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
