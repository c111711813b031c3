import type { FastifyReply, FastifyRequest } from 'fastify';
import { z } from 'zod';
import { fixableReasons } from '../../domain/contacts.ts';
import { reportContacts } from '../../engine/reporting/contact-report.ts';
import { readRunReport } from '../../engine/reporting/read-run-report.ts';
import { reportFailures, reportMissing } from '../../engine/reporting/streamed-reports.ts';
import { duration, timeZone } from '../../platform/scalars.ts';
import { contactSheet, type ReportedState, reportedStates } from '../../report/contact-sheet.ts';
import { missingColumns } from '../../report/delivery-reports.ts';
import { failureSheet } from '../../report/failure-sheet.ts';
import { formatRunReport } from '../../report/format-run-report.ts';
import { toRunDetails } from '../../report/run-details.ts';
import { type Call, callOf, requireVisibleRun } from './call.ts';
import { asConflict } from './problem.ts';
import { type Routes, runParameters, scoped } from './route.ts';
import { runReport, sheet } from './schemas.ts';
import {
  type HttpFormat,
  httpFormats,
  negotiateFormat,
  reportAnswer,
  sendPieces,
  sendSheet,
} from './send-report.ts';

export const format = z.enum(httpFormats).optional().describe('Overrides the header Accept.');

/** A report with several tables has no CSV and NDJSON. */
const runFormats = ['json', 'xlsx', 'html'] as const satisfies HttpFormat[];

const reporting = scoped('read', 404, 406, 409);

export function addReportRoutes(server: Routes): void {
  addRunReport(server);
  addContactReport(server);
  addFailureReport(server);
  addMissingReport(server);
}

function addRunReport(server: Routes): void {
  server.route({
    method: 'GET',
    url: '/runs/:run/report',
    config: reporting.config,
    schema: {
      operationId: 'reportRun',
      summary: 'A run in full, like `volley report run`.',
      security: reporting.security,
      params: runParameters,
      querystring: z.strictObject({
        timeZone: timeZone.default('UTC').describe('The zone of times in pages, such as Pacific/Auckland.'),
        format: z.enum(runFormats).optional().describe('Overrides the header Accept.'),
      }),
      response: { 200: reportAnswer(runReport, runFormats), ...reporting.problems },
    },
    handler: async (request, reply) => {
      const { timeZone: zone } = request.query;
      const chosen = negotiateFormat(request, request.query.format, runFormats);
      await sendReportOfRun(request, reply, async ({ context }, run) => {
        const details = await readRunReport(context, run, zone, (report) => toRunDetails(report, zone));
        const pieces = formatRunReport(details, chosen, context.now());
        await sendPieces(reply, { name: `run-${run}`, format: chosen }, pieces);
      });
      return reply;
    },
  });
}

function addContactReport(server: Routes): void {
  server.route({
    method: 'GET',
    url: '/runs/:run/contacts',
    config: reporting.config,
    schema: {
      operationId: 'reportContacts',
      summary: 'The result file: the rows of the contact files with the result of each.',
      security: reporting.security,
      params: runParameters,
      querystring: z.strictObject({
        state: z
          .union([z.enum(reportedStates), z.array(z.enum(reportedStates))])
          .optional()
          .describe('Only rows in these states; can be repeated.'),
        rejected: z
          .literal('true')
          .optional()
          .describe('Only invalid or suppressed contacts; `state=duplicate` has the duplicates.'),
        format,
      }),
      response: { 200: reportAnswer(sheet, httpFormats), ...reporting.problems },
    },
    handler: async (request, reply) => {
      const { state, rejected } = request.query;
      const states = new Set<ReportedState>(
        rejected ? fixableReasons : state === undefined ? reportedStates : [state].flat(),
      );
      const chosen = negotiateFormat(request, request.query.format, httpFormats);
      await sendReportOfRun(request, reply, ({ context }, run) =>
        reportContacts(context, run, (report) => {
          const file = { name: `contacts-${run}`, format: chosen };
          return sendSheet(
            reply,
            file,
            contactSheet(run, { ...report, csv: undefined }, states, context.now()),
          );
        }),
      );
      return reply;
    },
  });
}

function addFailureReport(server: Routes): void {
  server.route({
    method: 'GET',
    url: '/runs/:run/failures',
    config: reporting.config,
    schema: {
      operationId: 'reportFailures',
      summary:
        "Every request that was rejected, failed, is in doubt or was abandoned, with the service's words.",
      security: reporting.security,
      params: runParameters,
      querystring: z.strictObject({ format }),
      response: { 200: reportAnswer(sheet, httpFormats), ...reporting.problems },
    },
    handler: async (request, reply) => {
      const chosen = negotiateFormat(request, request.query.format, httpFormats);
      const call = callOf(request);
      const { context, limits, token } = call;
      const { run } = await requireVisibleRun(call, request.params.run);
      await limits.list(reply, token.name, async () => {
        const failures = failureSheet(await reportFailures(context, run), context.now());
        await sendSheet(reply, { name: `failures-${run}`, format: chosen }, failures);
      });
      return reply;
    },
  });
}

function addMissingReport(server: Routes): void {
  server.route({
    method: 'GET',
    url: '/reports/missing',
    config: reporting.config,
    schema: {
      operationId: 'reportMissing',
      summary: 'Accepted recipients without a final delivery report, oldest first.',
      security: reporting.security,
      querystring: z.strictObject({
        run: runParameters.shape.run.optional(),
        olderThan: duration.optional().describe('Accepted at least this long ago, such as 2h.'),
        format,
      }),
      response: { 200: reportAnswer(sheet, httpFormats), ...reporting.problems },
    },
    handler: async (request, reply) => {
      const { run, olderThan = 0 } = request.query;
      const chosen = negotiateFormat(request, request.query.format, httpFormats);
      const call = callOf(request);
      if (run !== undefined) await requireVisibleRun(call, run);
      const asOf = call.context.now();
      const until = new Date(asOf.getTime() - olderThan);
      await call.limits.report(reply, call.token.name, () =>
        reportMissing(call.context, { run, until, accounts: call.token.accounts }, (rows) => {
          const subtitle = [run === undefined ? 'all runs' : `run ${run}`];
          const missing = {
            title: 'Missing delivery reports',
            subtitle,
            asOf,
            columns: missingColumns,
            rows,
          };
          return sendSheet(reply, { name: 'missing', format: chosen }, missing);
        }),
      );
      return reply;
    },
  });
}

/** An existing run whose report is refused was purged, or has no contact files: a conflict. */
async function sendReportOfRun(
  request: FastifyRequest<{ Params: z.output<typeof runParameters> }>,
  reply: FastifyReply,
  work: (call: Call, run: string) => Promise<void>,
): Promise<void> {
  const call = callOf(request);
  const { run } = await requireVisibleRun(call, request.params.run);
  await asConflict(call.limits.report(reply, call.token.name, () => work(call, run)));
}
