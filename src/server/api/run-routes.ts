import { z } from 'zod';
import { requireStatus } from '../../engine/reporting/run-status.ts';
import { listRuns, type Run } from '../../ledger/runs/find.ts';
import { toRecord } from '../../report/formats/json.ts';
import { decisionColumns } from '../../report/lists/decisions.ts';
import { runColumns } from '../../report/lists/runs.ts';
import { runQuestion, toRunFilter } from '../../report/questions.ts';
import { type Call, callOf, findVisibleRun, requireVisibleRun } from './call.ts';
import { toProblemError } from './problem.ts';
import { answer, noParameters, operation, type Routes, runParameters } from './route.ts';
import { runPage, runStatus } from './schemas.ts';

const listing = { scope: 'read', refusals: [422] } as const;
const reading = { scope: 'read', refusals: [404] } as const;

const maxRuns = 1_000;

export function addRunRoutes(server: Routes): void {
  server.route({
    method: 'GET',
    url: '/runs',
    ...operation(listing, {
      operationId: 'listRuns',
      summary: 'Lists runs, newest first.',
      querystring: runQuestion.schema.extend({
        limit: z.coerce.number().int().min(1).max(maxRuns).default(50),
      }),
      response: {
        200: answer('A page of runs.', runPage),
      },
    }),
    handler: async (request) => {
      const call = callOf(request);
      const { limit, ...asked } = request.query;
      const before = asked.before === undefined ? undefined : await pageEnd(call, asked.before);
      const filter = { ...toRunFilter(asked, 'UTC'), before, accounts: call.token.accounts };
      const runs = await listRuns(call.context.ledger.knex, limit + 1, filter);
      const page = runs.slice(0, limit);
      return {
        runs: page.map((each) => toRecord(runColumns, each)),
        next: runs.length > limit ? (page.at(-1)?.run ?? null) : null,
      };
    },
  });

  server.route({
    method: 'GET',
    url: '/runs/:run',
    ...operation(reading, {
      operationId: 'getRun',
      summary: 'A run in numbers, like `volley status --json`.',
      params: runParameters,
      querystring: noParameters,
      response: { 200: answer('The run.', runStatus) },
    }),
    handler: async (request) => statusOf(callOf(request), request.params.run),
  });
}

export async function statusOf(call: Call, run: string): Promise<z.output<typeof runStatus>> {
  await requireVisibleRun(call, run);
  const { waits, waitsFor, doubts, decisions, variants, notifications, ...status } = await requireStatus(
    call.context,
    run,
  );
  return {
    ...status,
    waitsFor: waitsFor.map((wait) => ({ ...wait })),
    decisions: decisions.map((decision) => toRecord(decisionColumns, decision)),
    variants: [...variants],
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
