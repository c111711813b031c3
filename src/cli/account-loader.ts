import { loadAccount } from '../engine/load-account.ts';
import type { Account } from '../gateway/account.ts';
import type { Shell } from './shell.ts';

/** Slices of other runs are worked too, so their accounts may be asked for. */
export function accountLoader(shell: Shell, known?: Account): (name: string) => Promise<Account> {
  return async (name) => (name === known?.name ? known : loadAccount(name, shell.settings));
}
