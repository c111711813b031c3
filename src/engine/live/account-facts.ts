import type { InterfaceName } from '../../domain/message.ts';
import { InputError, type Problem } from '../../domain/problems.ts';
import { readSharing } from '../../gateway/account-sharing.ts';
import { readAccount } from '../../gateway/read-account.ts';
import { accountsPath, readText } from '../definition-files.ts';
import type { Settings } from '../settings.ts';

/** What the accounts file says of an account, without its secrets. */
export type AccountFacts = { readonly account: string } & (
  | {
      readonly kind: 'usable';
      readonly interface: InterfaceName;
      /** Host and port of the service. */
      readonly host: string;
      /** Requests in flight at once, over all workers. */
      readonly concurrency: number;
      readonly statusLookUp: boolean;
    }
  /** Such as a secret that is not set in this process. */
  | { readonly kind: 'unusable'; readonly problems: readonly Problem[] }
);

/**
 * In the order of the file.
 *
 * @throws InputError for a file that cannot be read
 */
export async function describeAccounts(settings: Settings): Promise<AccountFacts[]> {
  const path = accountsPath(settings);
  const source = await readText(path, settings, 'accounts');
  return readSharing(source, path).names.map((account): AccountFacts => {
    try {
      const read = readAccount(source, path, account, settings.environment);
      const { interface: interfaceName, baseUrl, concurrency, statusLookUp } = read;
      const { host } = new URL(baseUrl);
      return { account, kind: 'usable', interface: interfaceName, host, concurrency, statusLookUp };
    } catch (error) {
      if (!(error instanceof InputError)) throw error;
      return { account, kind: 'unusable', problems: error.problems };
    }
  });
}
