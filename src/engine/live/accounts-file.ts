import type { Caps } from '../../domain/caps.ts';
import type { InterfaceName } from '../../domain/message.ts';
import { InputError, type Problem } from '../../domain/problems.ts';
import { type AccountsFile, openAccounts } from '../../gateway/accounts-file.ts';
import { accountsPath, readText } from '../definition-files.ts';
import type { LimitsByAccount } from '../dispatch/account-limits.ts';
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

export type LiveAccountsFile = {
  /** Undefined while the file cannot be read. */
  readonly limits: LimitsByAccount | undefined;
  readonly caps: ReadonlyMap<string, Caps>;
  /** In the order of the file. */
  readonly facts: readonly AccountFacts[];
  /** Why the file cannot be read. */
  readonly problems: readonly Problem[];
};

/**
 * The text is read each time, so that a change is seen at once; it is parsed when it has changed.
 *
 * @returns a reader that rejects for no fault of the file
 */
export function createAccountsFileReader(settings: Settings): () => Promise<LiveAccountsFile> {
  const path = accountsPath(settings);
  let last: { readonly source: string; readonly file: LiveAccountsFile } | undefined;
  return async () => {
    try {
      const source = await readText(path, settings, 'accounts');
      if (last?.source !== source) last = { source, file: parse(source, path, settings) };
      return last.file;
    } catch (error) {
      return unreadable(error);
    }
  };
}

function parse(source: string, path: string, settings: Settings): LiveAccountsFile {
  try {
    const accounts = openAccounts(source, path);
    const { limits, caps } = accounts;
    return { limits, caps, facts: describeAccounts(accounts, settings), problems: [] };
  } catch (error) {
    return unreadable(error);
  }
}

/** @throws the error unless it is an InputError */
function unreadable(error: unknown): LiveAccountsFile {
  if (!(error instanceof InputError)) throw error;
  return { limits: undefined, caps: new Map(), facts: [], problems: error.problems };
}

function describeAccounts({ names, read }: AccountsFile, { environment }: Settings): AccountFacts[] {
  return names.map((account): AccountFacts => {
    try {
      const { interface: interfaceName, baseUrl, concurrency, statusLookUp } = read(account, environment);
      const { host } = new URL(baseUrl);
      return { account, kind: 'usable', interface: interfaceName, host, concurrency, statusLookUp };
    } catch (error) {
      if (!(error instanceof InputError)) throw error;
      return { account, kind: 'unusable', problems: error.problems };
    }
  });
}
