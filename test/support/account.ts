import type { Account } from '../../src/gateway/account.ts';

/** The account that `aRun` names. */
export function anAccount(changes: Partial<Account> = {}): Account {
  return {
    name: 'sandbox',
    interface: 'rest-2.02',
    format: 'json',
    baseUrl: 'http://127.0.0.1:1',
    credentials: { kind: 'authToken', authToken: 'token-for-tests' },
    timeouts: { connect: 1_000, headers: 2_000, body: 2_000 },
    concurrency: 16,
    requestsPerSecond: null,
    recipientsPerSecond: null,
    confirmAboveRecipients: 10_000,
    statusLookUp: false,
    bringsReports: true,
    rates: [],
    ratesTimeZone: 'UTC',
    suppressionsOf: changes.name ?? 'sandbox',
    ...changes,
  };
}
