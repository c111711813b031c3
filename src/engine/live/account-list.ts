import type { Problem } from '../../domain/problems.ts';
import { type AccountWork, listAccountWork } from '../../ledger/limits/account-work.ts';
import { listRateLimits } from '../../ledger/limits/rates.ts';
import type { EngineContext } from '../context.ts';
import { type AccountLimits, joinLimits } from '../dispatch/account-limits.ts';
import type { Settings } from '../settings.ts';
import { type AccountFacts, createAccountsFileReader } from './accounts-file.ts';

/** An account as it is now. */
export type LiveAccount = {
  readonly account: string;
  /** Undefined while the accounts file cannot be read. */
  readonly limits: AccountLimits | undefined;
  /** Undefined for an account that only the ledger knows. */
  readonly facts: AccountFacts | undefined;
  /** Undefined for an account that has never sent. */
  readonly work: AccountWork | undefined;
  /** Requests that got an outcome in a second; undefined until a second was measured. */
  readonly requestsPerSecond: number | undefined;
};

export type LiveAccountList = {
  readonly accounts: readonly LiveAccount[];
  /** Why the accounts file cannot be read. */
  readonly problems: readonly Problem[];
};

export type LiveAccounts = { readonly read: () => Promise<LiveAccountList> };

/** Milliseconds over which a rate is measured. */
const span = { least: 900, most: 10_000 } as const;

type Sample = { readonly at: number; readonly settled: ReadonlyMap<string, number> };

/** For pages that show accounts as they are. */
export function createLiveAccounts(
  { ledger, monotonic }: Pick<EngineContext, 'ledger' | 'monotonic'>,
  settings: Settings,
): LiveAccounts {
  const readFile = createAccountsFileReader(settings);
  let samples: Sample[] = [];
  return {
    read: async () => {
      const works = new Map((await listAccountWork(ledger.monitoring)).map((work) => [work.account, work]));
      const file = await readFile();
      const { facts, problems } = file;
      const limits = file.limits ? joinLimits(file.limits, await listRateLimits(ledger.monitoring)) : [];
      const known = new Map(limits.map((one) => [one.account, one]));
      const described = new Map(facts.map((one) => [one.account, one]));
      const at = monotonic();
      const settled = new Map([...works].map(([account, work]) => [account, work.settled]));
      samples = [...samples.filter((sample) => at - sample.at <= span.most), { at, settled }];
      const [first] = samples;
      const seconds = first && at - first.at >= span.least ? (at - first.at) / 1_000 : undefined;
      const rateOf = (account: string): number | undefined => {
        if (seconds === undefined) return undefined;
        // A run that has ended takes its requests along.
        const before = first?.settled.get(account) ?? 0;
        return Math.max(0, (settled.get(account) ?? 0) - before) / seconds;
      };
      const names = [...new Set([...described.keys(), ...known.keys(), ...works.keys()])];
      const accounts = names.map((account) => ({
        account,
        facts: described.get(account),
        limits: known.get(account),
        work: works.get(account),
        requestsPerSecond: rateOf(account),
      }));
      return { accounts, problems };
    },
  };
}
