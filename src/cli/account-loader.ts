import { loadAccount } from '../engine/load-definition.ts';
import type { Account } from '../gateway/account.ts';
import type { Shell } from './shell.ts';

/** Loads any account, because a process also sends slices of other runs. */
export function accountLoader(shell: Shell, known?: Account): (name: string) => Promise<Account> {
  return async (name) => (name === known?.name ? known : loadAccount(name, shell.settings));
}
