import { expect, test } from 'vitest';
import { accountPart, accountsPart } from '../../../src/dashboard/accounts/accounts-page.ts';
import type { LiveAccount } from '../../../src/engine/live/account-list.ts';

const viewer = { zone: 'UTC', mayRun: true, mayApprove: true, mayAdmin: true };

/** That the service refuses. */
const refused = (running: number): LiveAccount => ({
  account: 'busy',
  limits: undefined,
  facts: undefined,
  requestsPerSecond: undefined,
  work: {
    account: 'busy',
    running,
    paused: 1,
    planned: 0,
    settled: 0,
    claimed: 0,
    heldSlices: 0,
    refusedSince: new Date('2026-11-23T20:00:00Z'),
    retryAt: new Date('2026-11-23T20:00:10Z'),
    refusal: 'HTTP 503',
    lookedUpAt: null,
  },
});
const shown = (running: number) => accountsPart({ accounts: [refused(running)], problems: [] }, viewer).text;

test('an account that the service refuses says when it is asked next, while a run of it is running', () => {
  expect(shown(1)).toContain('data-state="refused"');
  expect(shown(1)).toContain(
    'The next request is sent at 2026-11-23 20:00:10 UTC. The run continues by itself.',
  );
});

test('an account whose runs have paused says that nothing is sent, and promises no next request', () => {
  expect(shown(0)).toContain('data-state="paused"');
  expect(shown(0)).toContain('No run of the account is running, so nothing is sent.');
  expect(shown(0)).not.toContain('20:00:10');
});

test('the page of an account says what it may send over all campaigns', () => {
  const none = { requestsPerSecond: null, recipientsPerSecond: null };
  const account: LiveAccount = {
    ...refused(0),
    limits: { account: 'busy', file: none, set: none, inForce: none },
    caps: {
      frequency: [
        { of: 'account', most: 3, milliseconds: 604_800_000, over: ['sms', 'email'] },
        { of: 'project', most: 1, milliseconds: 86_400_000, over: ['sms'] },
      ],
      recipientsPerDay: 50_000,
    },
  };
  const { text } = accountPart(account, viewer);
  for (const sentence of [
    'An address gets at most 3 messages within 7d from this account (sms, email).',
    'An address gets at most 1 message within 1d from all accounts (sms).',
    'At most 50,000 recipients a day.',
  ])
    expect(text).toContain(`<p>${sentence}</p>`);
});
