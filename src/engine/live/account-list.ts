import type { Caps } from '../../domain/caps.ts';
import { type AccountWork, listAccountWork } from '../../ledger/limits/account-work.ts';
import { listRateLimits } from '../../ledger/limits/rate-limits.ts';
import type { EngineContext } from '../context.ts';
import { type AccountLimits, joinLimits } from '../dispatch/account-limits.ts';
import type { Settings } from '../settings.ts';
import { type AccountFacts, createAccountsFileReader } from './accounts-file.ts';
import { createSpeedMeter } from './speed.ts';

/** An account as it is now. */
export type LiveAccount = {
  readonly account: string;
  /** Undefined while the accounts file cannot be read. */
  readonly limits: AccountLimits | undefined;
  readonly caps?: Caps | undefined;
  /** Undefined for an account that only the ledger knows. */
  readonly facts: AccountFacts | undefined;
  /** Undefined for an account that has never sent. */
  readonly work: AccountWork | undefined;
  /** Requests that got an outcome in a second; undefined until a second was measured. */
  readonly requestsPerSecond: number | undefined;
};

export type LiveAccountList = Awaited<ReturnType<ReturnType<typeof createLiveAccounts>>>;

/** Reads what pages show of accounts as they are. `problems`: why the accounts file cannot be read. */
export function createLiveAccounts(
  { ledger, monotonic }: Pick<EngineContext, 'ledger' | 'monotonic'>,
  settings: Settings,
) {
  const readFile = createAccountsFileReader(settings);
  const { measure } = createSpeedMeter(monotonic);
  return async () => {
    const works = new Map((await listAccountWork(ledger.monitoring)).map((work) => [work.account, work]));
    const file = await readFile();
    const { facts, problems } = file;
    const limits = file.limits ? joinLimits(file.limits, await listRateLimits(ledger.monitoring)) : [];
    const known = new Map(limits.map((one) => [one.account, one]));
    const described = new Map(facts.map((one) => [one.account, one]));
    const names = [...new Set([...described.keys(), ...known.keys(), ...works.keys()])];
    const accounts = names.map(
      (account): LiveAccount => ({
        account,
        facts: described.get(account),
        limits: known.get(account),
        caps: file.caps.get(account),
        work: works.get(account),
        // It is 0 when a run ends: the run takes its requests along.
        requestsPerSecond: measure(account, works.get(account)?.settled ?? 0),
      }),
    );
    return { accounts, problems };
  };
}
