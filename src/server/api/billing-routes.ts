import { reportBillingLines } from '../../engine/billing/billing.ts';
import { createBillingReport } from '../../report/billing/billing-sheet.ts';
import { billingParameters, billingQueryOf, requireVisibleNames } from './billing-query.ts';
import { callOf } from './call.ts';
import { format } from './report-routes.ts';
import { operation, type Routes } from './route.ts';
import { sheet } from './schemas.ts';
import { httpFormats, negotiateFormat, reportAnswer, sendSheet } from './send-report.ts';

const reading = { scope: 'read', refusals: [406, 422] } as const;

export function addBillingRoute(server: Routes): void {
  server.route({
    method: 'GET',
    url: '/reports/billing',
    ...operation(reading, {
      operationId: 'reportBilling',
      summary: 'Requests, recipients, units and money of a period, by payer.',
      querystring: billingParameters.extend({ format }),
      response: { 200: reportAnswer(sheet, httpFormats) },
    }),
    handler: async (request, reply) => {
      const call = callOf(request);
      const { context, limits, token } = call;
      const { format: asked, ...parameters } = request.query;
      const query = billingQueryOf(parameters, token.accounts);
      const chosen = negotiateFormat(request, asked, httpFormats);
      await requireVisibleNames(call, parameters, query);
      await limits.report(reply, token.name, () =>
        reportBillingLines(context, query, async (streamed) => {
          const report = createBillingReport(query, streamed);
          await sendSheet(reply, { name: 'billing', format: chosen }, report);
        }),
      );
      return reply;
    },
  });
}
