import { suppressionSourceOf } from '../../domain/account-sharing.ts';
import { type Channel, channels } from '../../domain/message.ts';
import { listRunIds } from '../../ledger/runs/find.ts';
import { listSuppressions, type PagedSuppression } from '../../ledger/suppressions/list.ts';
import type { EngineContext } from '../context.ts';
import { loadAccounts } from '../load-definition.ts';
import type { Settings } from '../settings.ts';

/** The accounts that a caller may see, and those whose suppressions they obey. */
export type OwnAccounts = {
  readonly names: readonly string[];
  /** Null: all. */
  readonly sources: readonly string[] | null;
};

/**
 * @param accounts of the caller's token; null: all
 * @throws InputError when the accounts file is faulty or missing
 */
export async function findOwnAccounts(
  settings: Settings,
  accounts: readonly string[] | null,
): Promise<OwnAccounts> {
  const { names, sharing } = await loadAccounts(settings);
  if (accounts === null) return { names, sources: null };
  const sources = [...new Set(accounts.map((name) => suppressionSourceOf(sharing, name)))];
  return { names: names.filter((name) => accounts.includes(name)), sources };
}

/** Lists the channels in which an address can be suppressed. */
export function channelsOf(address: string): readonly Channel[] {
  const isEmail = address.includes('@');
  return channels.filter((channel) => (channel === 'email') === isEmail);
}

type Own = OwnAccounts | { readonly sources: null };

/**
 * Leaves out of the suppressions of others what is not the caller's: the run, the SubAccount, the words, the person.
 * One with a run is of the account of the run, because accounts can share suppressions.
 */
export async function hideOthers(
  { ledger }: EngineContext,
  found: readonly PagedSuppression[],
  own: Own,
): Promise<readonly PagedSuppression[]> {
  if (own.sources === null) return found;
  const runs = found.flatMap(({ run }) => run ?? []);
  const ownRuns = new Set(await listRunIds(ledger.knex, runs.length, { accounts: own.names, runs }));
  return found.map((each) =>
    (each.run ? ownRuns.has(each.run) : own.names.includes(each.account))
      ? each
      : { ...each, run: null, subAccount: '', ofOneSubAccount: each.subAccount !== '', reason: '', by: null },
  );
}

/**
 * All suppressions of an address that apply to the accounts, also those kept as hashes.
 *
 * @param address normalised
 * @throws InputError when suppressions are hashed with another key
 */
export async function listSuppressionsOfAddress(
  context: EngineContext,
  address: string,
  own: Own,
): Promise<readonly PagedSuppression[]> {
  const { ledger } = context;
  const { sources } = own;
  const found: PagedSuppression[] = [];
  await listSuppressions(
    ledger.pool,
    { address },
    {
      onPage: (page) => {
        for (const { account = '', ...suppression } of page)
          if (sources === null || account === '' || sources.includes(account))
            found.push({ ...suppression, account });
      },
      hashKey: ledger.hashKey,
    },
  );
  return hideOthers(context, found, own);
}
