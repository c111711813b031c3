import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { checkBudget, findOverruns } from '../../src/campaign/budget.ts';
import { readCampaign } from '../../src/campaign/campaign.ts';
import { estimateCost, type KnownCost } from '../../src/campaign/cost.ts';
import { createTariffs } from '../../src/campaign/tariffs.ts';
import type { Channel } from '../../src/domain/message.ts';
import type { CostTotal, Rate } from '../../src/domain/rate-card.ts';
import { problemsThrown } from '../support/thrown-problems.ts';

const rates: readonly Rate[] = [{ channel: 'email', unit: 'email', price: '0.10', currency: 'NZD' }];
const ratesOf = (channel: Channel) => createTariffs(channel, { rates, ratesTimeZone: 'UTC' }).rates();
const now = new Date();

/** One recipient per SubAccount and ChargeCode; each costs 0.10. */
type Charged = readonly [subAccount: string | null, chargeCode: string | null, recipients: number];

function estimateOf(charged: readonly Charged[]): KnownCost {
  const totals = charged.map(
    ([subAccount, chargeCode, recipients]): CostTotal => ({
      subAccount,
      chargeCode,
      recipients,
      parts: null,
      tariffIndex: 0,
      example: null,
    }),
  );
  const estimate = estimateCost(totals, 'email', ratesOf('email'), now);
  return estimate.kind === 'known' ? estimate : expect.fail(estimate.why);
}

function campaign(budget: string, channel: Channel = 'email') {
  const source = `campaign: test
account: main
channel: ${channel}
contacts: { file: contacts.csv }
message: { MessagePlain: Hello }
${budget}`;
  return readCampaign(source, 'c.yaml');
}

const check = (budget: string, charged: readonly Charged[]): void =>
  checkBudget(campaign(budget), estimateOf(charged));
const problems = (budget: string, charged: readonly Charged[]): string[] =>
  problemsThrown(() => check(budget, charged));

describe('checkBudget', () => {
  const charged: readonly Charged[] = [
    ['ACME', 'C1', 700],
    ['ACME', 'C2', 500],
    ['Works', 'C1', 300],
    [null, null, 40],
  ];

  test('a plan that costs exactly the budget is allowed, and so is one without a budget', () => {
    const met = `budget:
  campaign: 154
  subAccounts: { ACME: 120.00, "*": 30 }
  chargeCodes: { C1: 100.00000000, C2: 50, "*": 4 }`;
    check(met, charged);
    check('', charged);
    check('budget: {}', charged);
  });

  test('the campaign limit applies to the total cost', () => {
    expect(problems('budget: { campaign: 153.99999999 }', charged)).toEqual([
      'c.yaml:6:21: The budget of the campaign is 153.99999999 NZD; this plan would cost 154.00 NZD.',
    ]);
  });

  test('a SubAccount or ChargeCode limit applies to the sum of its lines', () => {
    expect(problems('budget: { subAccounts: { ACME: 100.5, Works: 30 } }', charged)).toEqual([
      'c.yaml:6:32: The budget of SubAccount "ACME" is 100.50 NZD; this plan would cost 120.00 NZD.',
    ]);
    expect(problems('budget: { chargeCodes: { C1: 99 } }', charged)).toEqual([
      'c.yaml:6:30: The budget of ChargeCode "C1" is 99.00 NZD; this plan would cost 100.00 NZD.',
    ]);
  });

  test('the "*" limit applies to each SubAccount without its own, and to recipients without one', () => {
    expect(problems('budget: { subAccounts: { ACME: 200, "*": 3.99 } }', charged)).toEqual([
      'c.yaml:6:42: The budget of SubAccount "Works" is 3.99 NZD; this plan would cost 30.00 NZD.',
      'c.yaml:6:42: The budget of recipients without SubAccount is 3.99 NZD; this plan would cost 4.00 NZD.',
    ]);
  });

  test('a limit of 0 allows no cost', () => {
    expect(problems('budget: { campaign: 0 }', charged).length).toBe(1);
    check('budget: { campaign: 0 }', []);
  });

  test('a limit can name any SubAccount', () => {
    expect(problems('budget: { subAccounts: { constructor: 1, 7: 1 } }', [['7', null, 20]])).toEqual([
      'c.yaml:6:45: The budget of SubAccount "7" is 1.00 NZD; this plan would cost 2.00 NZD.',
    ]);
    check('budget: { subAccounts: { a: 1 } }', [['constructor', null, 1000]]);
  });

  test('of a thousand exceeded limits, twenty are listed and the rest counted', () => {
    const many = Array.from({ length: 1000 }, (_, index): Charged => [`S${index}`, null, 10]);
    const reported = problems('budget: { subAccounts: { "*": 0.99 } }', many);
    expect(reported.length).toBe(21);
    expect(reported[19]).toContain('SubAccount "S19"');
    expect(reported[20]).toBe('c.yaml:6:9: 980 more limits would be exceeded.');
  });

  test('a cost above the limit by any fraction exceeds it', () => {
    const cents = fc.nat(1_000_000);
    fc.assert(
      fc.property(cents, cents, (limit, cost) => {
        const written = `${Math.floor(limit / 100)}.${String(limit % 100).padStart(2, '0')}`;
        const estimate = estimateOf([['A', null, cost]]);
        expect(findOverruns(estimate, { campaign: written }).length).toBe(cost * 10 > limit ? 1 : 0);
      }),
    );
  });
});

describe('a budget without an estimated cost', () => {
  const refusal = (channel: Channel, budget = 'budget: { campaign: 500 }'): string[] =>
    problemsThrown(() =>
      checkBudget(campaign(budget, channel), estimateCost([], channel, ratesOf(channel), now)),
    );

  test('a budget is refused when a rate is missing, and the error names the fix', () => {
    expect(refusal('sms')).toEqual([
      'c.yaml:6:9: A budget needs an estimated cost, and there is none: the account has no rate for sms. Add it to its "rates", or remove "budget".',
    ]);
  });

  test('a budget is refused when units are known only after sending', () => {
    expect(refusal('fax')).toEqual([
      'c.yaml:6:9: A budget needs an estimated cost, and there is none: fax is paid by the page, and how many there are is known only after sending. Remove "budget".',
    ]);
  });

  test('an unknown cost is allowed without a budget', () => {
    expect(() =>
      checkBudget(campaign('', 'fax'), estimateCost([], 'fax', ratesOf('fax'), now)),
    ).not.toThrow();
  });
});

describe('amounts of a budget', () => {
  test.each(['0', '0.5', '500.00', '1000000000', '1000000000.00', '0.00000001'])(
    'a budget accepts the amount %s',
    (written) => {
      expect(campaign(`budget: { campaign: ${written} }`).value.budget).toEqual({ campaign: written });
    },
  );

  test.each([
    '-1',
    '+1',
    '1e3',
    '.5',
    '5.',
    '0.123456789',
    '1,000',
    '1000000000.00000001',
    '01',
    'NaN',
    '5 NZD',
  ])('a budget refuses the amount %s', (written) => {
    expect(problemsThrown(() => campaign(`budget: { campaign: "${written}" }`))).toEqual([
      `c.yaml:6:21: "budget.campaign": expected an amount from 0 to 1000000000, such as 12.50, with at most 8 decimals, got "${written}".`,
    ]);
  });

  test('a budget refuses an unknown key', () => {
    expect(problemsThrown(() => campaign('budget: { subAccount: { ACME: 5 } }'))).toEqual([
      'c.yaml:6:11: Unknown key "subAccount" in "budget". Did you mean "subAccounts"? Known here: campaign, subAccounts, chargeCodes.',
    ]);
    expect(problemsThrown(() => campaign('budget: { subAccounts: { ACME: much } }'))).toEqual([
      'c.yaml:6:32: "budget.subAccounts.ACME": expected an amount from 0 to 1000000000, such as 12.50, with at most 8 decimals, got "much".',
    ]);
  });
});
