import { z } from 'zod';
import { channels } from '../../domain/message.ts';
import { runStates } from '../../domain/runs.ts';
import { requireStatus } from '../../engine/reporting/run-status.ts';
import { listRuns, type Run } from '../../ledger/runs/find.ts';
import { toRecord } from '../../report/formats/json.ts';
import { runColumns } from '../../report/lists/runs.ts';
import { type Call, callOf, findVisibleRun, requireVisibleRun } from './call.ts';
import { toProblemError } from './problem.ts';
import { answer, noParameters, plainText, type Routes, runParameters, scoped } from './route.ts';
import { runPage, runStatus } from './schemas.ts';

const maxRuns = 1_000;

export function addRunRoutes(server: Routes): void {
  const list = scoped('read', 422);
  server.route({
    method: 'GET',
    url: '/runs',
    config: list.config,
    schema: {
      operationId: 'listRuns',
      summary: 'Lists runs, newest first.',
      security: list.security,
      querystring: z.strictObject({
        campaign: plainText(200).optional().describe("The campaign's name."),
        account: plainText(200).optional(),
        channel: z.enum(channels).optional(),
        state: z.enum(runStates).optional(),
        limit: z.coerce.number().int().min(1).max(maxRuns).default(50),
        before: runParameters.shape.run
          .optional()
          .describe('Only runs planned before this one: `next` of the previous page.'),
      }),
      response: {
        200: answer('A page of runs.', runPage),
        ...list.problems,
      },
    },
    handler: async (request) => {
      const call = callOf(request);
      const { limit, before: last, ...filter } = request.query;
      const before = last === undefined ? undefined : await pageEnd(call, last);
      const runs = await listRuns(call.context.ledger.knex, limit + 1, {
        ...filter,
        before,
        accounts: call.token.accounts,
      });
      const page = runs.slice(0, limit);
      return {
        runs: page.map((each) => toRecord(runColumns, each)),
        next: runs.length > limit ? (page.at(-1)?.run ?? null) : null,
      };
    },
  });

  const status = scoped('read', 404);
  server.route({
    method: 'GET',
    url: '/runs/:run',
    config: status.config,
    schema: {
      operationId: 'getRun',
      summary: 'A run in numbers, like `volley status --json`.',
      security: status.security,
      params: runParameters,
      querystring: noParameters,
      response: { 200: answer('The run.', runStatus), ...status.problems },
    },
    handler: async (request) => statusOf(callOf(request), request.params.run),
  });
}

export async function statusOf(call: Call, run: string): Promise<z.output<typeof runStatus>> {
  await requireVisibleRun(call, run);
  const { waits, waitsFor, doubts, notifications, ...status } = await requireStatus(call.context, run);
  return {
    ...status,
    waitsFor: waitsFor.map((wait) => ({ ...wait })),
    notifications: [...notifications],
    ...(doubts && { doubts: [...doubts] }),
    ...(waits && { waits: waits.map(({ timeZones, ...wait }) => ({ ...wait, timeZones: [...timeZones] })) }),
  };
}

async function pageEnd(call: Call, run: string): Promise<Run> {
  const found = await findVisibleRun(call, run);
  if (found) return found;
  const what = `There is no run ${run}; expected \`next\` of an earlier page.`;
  throw toProblemError(422, 'input', [{ where: 'query/before', what }]);
}
