import { reportBillingLines } from '../../engine/billing/billing.ts';
import { createBillingReport } from '../../report/billing-report.ts';
import { billingParameters, billingQueryOf, requireVisibleNames } from './billing-query.ts';
import { callOf, findVisibleRun } from './call.ts';
import { format } from './report-routes.ts';
import { type Routes, scoped } from './route.ts';
import { sheet } from './schemas.ts';
import { httpFormats, negotiateFormat, reportAnswer, sendSheet } from './send-report.ts';

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
      querystring: billingParameters.extend({ format }),
      response: { 200: reportAnswer(sheet, httpFormats), ...billing.problems },
    },
    handler: async (request, reply) => {
      const call = callOf(request);
      const { context, limits, token } = call;
      const { format: asked, ...parameters } = request.query;
      const query = billingQueryOf(parameters, token.accounts);
      const chosen = negotiateFormat(request, asked, httpFormats);
      const isVisible = async (run: string) => (await findVisibleRun(call, run)) !== undefined;
      await requireVisibleNames(context, parameters, query, { accounts: token.accounts, isVisible });
      await limits.report(reply, token.name, () =>
        reportBillingLines(context, query, async (streamed) => {
          const report = await createBillingReport(query, streamed, context.now());
          await sendSheet(reply, { name: 'billing', format: chosen }, report);
        }),
      );
      return reply;
    },
  });
}
