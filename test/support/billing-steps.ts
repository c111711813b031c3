import fc from 'fast-check';
import type { Channel } from '../../src/domain/message.ts';
import type { RunRates } from '../../src/domain/rate-card.ts';
import type { Resolution } from '../../src/domain/runs.ts';
import type { DrawnReport } from './billing-reports.ts';

/** Random histories of runs and delivery reports. */

const name = (key: string, ...names: string[]) =>
  fc.constantFrom<Record<string, string>>({}, ...names.map((value) => ({ [key]: value })));
const payer = fc
  .tuple(
    name('SubAccount', 'North', 'South'),
    name('Department', 'Works'),
    name('ChargeCode', 'A-1', 'B-2', 'C-3'),
  )
  .map((named): Record<string, string> => Object.assign({}, ...named));

const price = fc.option(fc.constantFrom('0.08', '0.1', '1.005', '0.00000001'), { nil: null });
const units = fc.option(fc.constantFrom('1', '2', '3.5'), { nil: null });

/** Local midnight in Auckland, on the day daylight saving begins. */
const changeOfPrice = '2026-09-26T12:00:00Z';
const rates = fc.constantFrom<RunRates | null>(
  null,
  { currency: 'NZD', tariffs: [[{ price: '0.08', tax: '0.15', from: null, until: null }]] },
  {
    currency: 'AUD',
    tariffs: [
      [
        { price: '0.1', tax: null, from: null, until: changeOfPrice },
        { price: '0.12', tax: '0.1', from: changeOfPrice, until: null },
      ],
    ],
  },
  {
    currency: 'NZD',
    tariffs: [
      [{ price: '0.08', tax: '0.15', from: null, until: null }],
      [],
      [{ price: '1.5', tax: null, from: changeOfPrice, until: null }],
    ],
  },
);

/** `divided`: rejected and divided. `released`: not at the service. `lost`: not answered yet. */
const sentEnds = ['rejected', 'divided', 'failed', 'in_doubt', 'released', 'lost', 'lost'] as const;
/** `busy`: released, but the service may have it, because it answered. `numbered`: always with the same job number. */
export type SentEnd = (typeof sentEnds)[number] | 'accepted' | 'busy' | 'numbered';
const fourEnds = fc.array(
  fc.constantFrom<SentEnd>('accepted', 'accepted', 'accepted', 'accepted', ...sentEnds),
  {
    minLength: 4,
    maxLength: 4,
  },
);

const ofRun = [
  'doubt',
  'doubtRepeated',
  'reportWhole',
  'retry',
  'giveBack',
  'resend',
  'lookUp',
  'cancel',
  'restore',
] as const;

const step = fc.oneof(
  fc.record({
    kind: fc.constant('plan' as const),
    channel: fc.constantFrom<Channel>('sms', 'email', 'fax', 'voice', 'tts'),
    payers: fc.array(payer, { minLength: 1, maxLength: 3 }),
    contacts: fc.integer({ min: 1, max: 7 }),
    chunkSize: fc.integer({ min: 1, max: 3 }),
    rates,
  }),
  fc.record({
    kind: fc.constant('wait' as const),
    minutes: fc.constantFrom(1, 7, 29, 60, 24 * 60, 29 * 24 * 60),
  }),
  fc.record({
    kind: fc.constant('send' as const),
    run: fc.nat(5),
    requests: fc.integer({ min: 1, max: 4 }),
    ends: fourEnds,
  }),
  fc.record({ kind: fc.constant('answer' as const), run: fc.nat(5), ends: fourEnds }),
  fc.record({
    kind: fc.constant('report' as const),
    reports: fc.array(
      fc.record({
        recipient: fc.nat(40),
        outcome: fc.constantFrom<DrawnReport['outcome']>('delivered', 'delivered', 'undelivered', 'pending'),
        price,
        units,
      }),
      { minLength: 1, maxLength: 6 },
    ),
  }),
  fc.record({
    kind: fc.constant('resolve' as const),
    run: fc.nat(5),
    resolution: fc.constantFrom<Resolution>('accepted', 'abandon', 'resend'),
  }),
  fc.record({ kind: fc.constant('suppress' as const), line: fc.integer({ min: 2, max: 8 }) }),
  fc.record({ kind: fc.constantFrom(...ofRun), run: fc.nat(5) }),
  fc.record({ kind: fc.constantFrom('replay' as const, 'fold' as const, 'book' as const, 'close' as const) }),
);
export type BillingStep = typeof step extends fc.Arbitrary<infer Step> ? Step : never;

export const steps = fc.array(step, { minLength: 5, maxLength: 30 });

/** The day before daylight saving begins in Auckland, and before it ends. */
export const beginnings = fc.constantFrom(
  '2026-09-26T11:40:00Z',
  '2027-04-03T10:45:00Z',
  '2026-11-30T10:59:00Z',
);
