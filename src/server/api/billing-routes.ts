import { z } from 'zod';
import { channels } from '../../domain/message.ts';
import { reportBillingLines } from '../../engine/billing/billing.ts';
import { requireKnownNames } from '../../engine/billing/known-names.ts';
import { noSuchRun } from '../../engine/runs/find-run.ts';
import type { BillingQuery } from '../../ledger/billing/report.ts';
import { billingTime, timeZone } from '../../platform/scalars.ts';
import { createBillingReport, parseDimensions } from '../../report/billing-report.ts';
import { noName, parsePayer } from '../../report/billing-sheet.ts';
import { callOf, findVisibleRun } from './call.ts';
import { toProblemError } from './problem.ts';
import { format } from './report-routes.ts';
import { plainText, type Routes, scoped } from './route.ts';
import { sheet } from './schemas.ts';
import { httpFormats, negotiateFormat, reportAnswer, sendSheet } from './send-report.ts';

const names = z.union([plainText(200), z.array(plainText(200)).max(100)]).optional();
const namesOrNone = names.describe(`Only of these, or ${noName}; can be repeated.`);
const onlyThese = names.describe('Only of these; can be repeated.');

const billingQuery = z.strictObject({
  from: billingTime
    .optional()
    .describe('Requests sent from this time on: 2026-11, 2026-11-01 or 2026-11-01T08:30.'),
  to: billingTime.optional().describe('Requests sent before this time.'),
  timeZone: timeZone.default('UTC').describe('The zone of the dates, such as Pacific/Auckland.'),
  by: z.string().max(200).default('SubAccount,ChargeCode').describe('Dimensions, separated by commas.'),
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
  format,
});

export function addBillingRoute(server: Routes): void {
  const billing = scoped('read', 406, 422);
  server.route({
    method: 'GET',
    url: '/reports/billing',
    config: billing.config,
    schema: {
      operationId: 'reportBilling',
      summary: 'Requests, recipients, units and money of a period, by payer.',
      security: billing.security,
      querystring: billingQuery,
      response: { 200: reportAnswer(sheet, httpFormats), ...billing.problems },
    },
    handler: async (request, reply) => {
      const call = callOf(request);
      const { context, limits, token } = call;
      const query = toBillingQuery(request.query, token.accounts);
      const chosen = negotiateFormat(request, request.query.format, httpFormats);
      const { run = [], account = [] } = request.query;
      for (const each of [run].flat()) if (!(await findVisibleRun(call, each))) noSuchRun(each);
      await requireKnownNames(context, { ...query.filter, account: [account].flat() }, token.accounts);
      await limits.report(() =>
        reportBillingLines(context, query, async (streamed) => {
          const report = await createBillingReport(query, streamed, context.now());
          await sendSheet(reply, { name: 'billing', format: chosen }, report);
        }),
      );
      return reply;
    },
  });
}

/** @param accounts the accounts of the token, used if the query names none; null: all */
function toBillingQuery(
  asked: z.output<typeof billingQuery>,
  accounts: readonly string[] | null,
): BillingQuery {
  const { from, to, timeZone: zone } = asked;
  if (from !== undefined && to !== undefined && from >= to)
    throw toProblemError(422, 'input', [{ where: 'query/to', what: `${to} is not after from, ${from}.` }]);
  const by = parseDimensions(asked.by);
  if (typeof by === 'string') throw toProblemError(422, 'input', [{ where: 'query/by', what: by }]);
  const wanted = {
    SubAccount: asked.subAccount,
    Department: asked.department,
    ChargeCode: asked.chargeCode,
    account: asked.account ?? accounts ?? undefined,
    campaign: asked.campaign,
    channel: asked.channel,
    run: asked.run,
  } satisfies Partial<Record<keyof BillingQuery['filter'], unknown>>;
  const only = Object.entries(wanted).flatMap(([dimension, given]) =>
    given === undefined ? [] : [[dimension, [given].flat().map(parsePayer)] as const],
  );
  return { by, from: from ?? null, until: to ?? null, timeZone: zone, filter: Object.fromEntries(only) };
}
