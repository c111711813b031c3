import { z } from 'zod';
import { channels } from '../../domain/message.ts';
import { InputError } from '../../domain/problems.ts';
import { requireKnownNames } from '../../engine/billing/known-names.ts';
import { noSuchRun } from '../../engine/runs/find-run.ts';
import type { BillingQuery } from '../../ledger/billing/report.ts';
import { billingTime, timeZone } from '../../platform/scalars.ts';
import { noName, parseDimensions, toBillingQuery } from '../../report/billing/billing-words.ts';
import { plainText } from '../../report/questions.ts';
import { type Caller, findVisibleRun } from './call.ts';

const names = z.union([plainText(200), z.array(plainText(200)).max(100)]).optional();
const namesOrNone = names.describe(`Only of these, or ${noName}; can be repeated.`);
const onlyThese = names.describe('Only of these; can be repeated.');

export const billingParameters = z.strictObject({
  from: billingTime
    .optional()
    .describe('Requests sent from this time on: 2026-11, 2026-11-01 or 2026-11-01T08:30.'),
  to: billingTime.optional().describe('Requests sent before this time.'),
  timeZone: timeZone.default('UTC').describe('The zone of the dates, such as Pacific/Auckland.'),
  by: z.string().max(200).default('SubAccount,ChargeCode').describe('Dimensions, separated by commas.'),
  sort: plainText(40).optional().describe('A dimension or figure, such as price; -price: the largest first.'),
  subAccount: namesOrNone,
  department: namesOrNone,
  chargeCode: namesOrNone,
  account: onlyThese,
  campaign: onlyThese,
  channel: z
    .union([z.enum(channels), z.array(z.enum(channels))])
    .optional()
    .describe('Only of these; can be repeated.'),
  run: onlyThese,
});
export type BillingParameters = z.output<typeof billingParameters>;

/**
 * @param accounts the accounts of the caller, used if the query names none; null: all
 * @throws InputError for a wrong period, dimension or sort
 */
export function billingQueryOf(asked: BillingParameters, accounts: readonly string[] | null): BillingQuery {
  const { from, to } = asked;
  if (from !== undefined && to !== undefined && from >= to)
    throw new InputError([{ where: 'query/to', what: `${to} is not after from, ${from}.` }]);
  const by = parseDimensions(asked.by);
  if (typeof by === 'string') throw new InputError([{ where: 'query/by', what: by }]);
  return toBillingQuery({ ...asked, by, account: asked.account ?? accounts ?? undefined }, 'query/sort');
}

/**
 * Names of other accounts are as unknown as misspelt ones.
 *
 * @throws InputError for a name without a run that the caller may see
 */
export async function requireVisibleNames(
  caller: Caller,
  { run = [], account = [] }: BillingParameters,
  { filter }: BillingQuery,
): Promise<void> {
  for (const each of [run].flat()) if (!(await findVisibleRun(caller, each))) noSuchRun(each);
  const { context, token } = caller;
  await requireKnownNames(context, { ...filter, account: [account].flat() }, token.accounts);
}
