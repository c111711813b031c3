import type { FastifyReply, FastifyRequest } from 'fastify';
import { z } from 'zod';
import { fixableReasons } from '../../domain/contacts.ts';
import { duration, timeZone } from '../../platform/scalars.ts';
import { missingTitle } from '../../report/lists/delivery-reports.ts';
import { notAcceptedTitle } from '../../report/lists/failures.ts';
import { type ReportedState, reportedStates } from '../../report/run/contact-sheet.ts';
import { type Call, callOf, requireVisibleRun } from './call.ts';
import { asConflict } from './problem.ts';
import { operation, type Routes, runParameters } from './route.ts';
import { runReport, sheet } from './schemas.ts';
import {
  httpFormats,
  negotiateFormat,
  reportAnswer,
  runFormats,
  sendMissing,
  sendRunReport,
} from './send-report.ts';

const reading = { scope: 'read', refusals: [404, 406, 409] } as const;

export const format = z.enum(httpFormats).optional().describe('Overrides the header Accept.');

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
    ...operation(reading, {
      operationId: 'reportRun',
      summary: 'A run in full, like `volley report run`.',
      params: runParameters,
      querystring: z.strictObject({
        timeZone: timeZone.default('UTC').describe('The zone of times in pages, such as Pacific/Auckland.'),
        format: z.enum(runFormats).optional().describe('Overrides the header Accept.'),
      }),
      response: { 200: reportAnswer(runReport, runFormats) },
    }),
    handler: async (request, reply) => {
      const { timeZone: zone } = request.query;
      const chosen = negotiateFormat(request, request.query.format, runFormats);
      await sendReportOfRun(request, reply, ({ context }, run) =>
        sendRunReport(context, reply, { report: 'run', run, format: chosen, zone }),
      );
      return reply;
    },
  });
}

function addContactReport(server: Routes): void {
  server.route({
    method: 'GET',
    url: '/runs/:run/contacts',
    ...operation(reading, {
      operationId: 'reportContacts',
      summary: 'The result file: the rows of the contact files with the result of each.',
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
      response: { 200: reportAnswer(sheet, httpFormats) },
    }),
    handler: async (request, reply) => {
      const { state, rejected } = request.query;
      const states = new Set<ReportedState>(
        rejected ? fixableReasons : state === undefined ? reportedStates : [state].flat(),
      );
      const chosen = negotiateFormat(request, request.query.format, httpFormats);
      await sendReportOfRun(request, reply, ({ context }, run) =>
        sendRunReport(context, reply, {
          report: 'contacts',
          run,
          format: chosen,
          states,
          asContactFile: false,
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
    ...operation(reading, {
      operationId: 'reportFailures',
      summary: `${notAcceptedTitle}, each with the words of the service.`,
      params: runParameters,
      querystring: z.strictObject({ format }),
      response: { 200: reportAnswer(sheet, httpFormats) },
    }),
    handler: async (request, reply) => {
      const chosen = negotiateFormat(request, request.query.format, httpFormats);
      const call = callOf(request);
      const { context, limits, token } = call;
      const { run } = await requireVisibleRun(call, request.params.run);
      await limits.list(reply, token.name, () =>
        sendRunReport(context, reply, { report: 'failures', run, format: chosen }),
      );
      return reply;
    },
  });
}

function addMissingReport(server: Routes): void {
  server.route({
    method: 'GET',
    url: '/reports/missing',
    ...operation(reading, {
      operationId: 'reportMissing',
      summary: `${missingTitle}, oldest first.`,
      querystring: z.strictObject({
        run: runParameters.shape.run.optional(),
        olderThan: duration.optional().describe('Accepted at least this long ago, such as 2h.'),
        format,
      }),
      response: { 200: reportAnswer(sheet, httpFormats) },
    }),
    handler: async (request, reply) => {
      const { run, olderThan } = request.query;
      const chosen = negotiateFormat(request, request.query.format, httpFormats);
      const call = callOf(request);
      const { context, limits, token } = call;
      if (run !== undefined) await requireVisibleRun(call, run);
      await limits.report(reply, token.name, () =>
        sendMissing(context, reply, { run, format: chosen, olderThan, accounts: token.accounts }),
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
