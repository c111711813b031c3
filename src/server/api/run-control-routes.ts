import { z } from 'zod';
import { formatReasonOrNull } from '../../domain/reasons.ts';
import { startOnce } from '../../engine/access/start-by-key.ts';
import { resumeByWorkers } from '../../engine/runs/begin-run.ts';
import { requireRun } from '../../engine/runs/find-run.ts';
import { promoteRun, promoteVariant } from '../../engine/runs/promote-run.ts';
import { cancel, pause } from '../../engine/runs/stop-run.ts';
import { runActionWords } from '../../report/run-action-words.ts';
import { type Call, callOf, requireVisibleRun } from './call.ts';
import { asConflict, ProblemError } from './problem.ts';
import { answer, noParameters, operation, type Routes, reason, reasonIfAny, runParameters } from './route.ts';
import { statusOf } from './run-routes.ts';
import { runStatus, startedRun } from './schemas.ts';

const changing = { scope: 'run', refusals: [404, 409, 413, 415] } as const;
const starting = { scope: 'run', refusals: [409, 413, 415, 422] } as const;

const stops = [
  { action: 'pause', stop: pause, byDefault: 'paused over the API' },
  { action: 'cancel', stop: cancel, byDefault: 'cancelled over the API' },
] as const;

export function addRunControlRoutes(server: Routes): void {
  addStart(server);
  for (const { action, stop, byDefault } of stops) {
    const { verb, what } = runActionWords[action];
    server.route({
      method: 'POST',
      url: `/runs/:run/${action}`,
      ...operation(changing, {
        operationId: `${action}Run`,
        summary: `${verb}s a run. ${what}`,
        params: runParameters,
        querystring: noParameters,
        body: z.strictObject({ reason: reason.default(byDefault) }),
        response: { 200: answer('The run as it is now.', runStatus) },
      }),
      handler: async (request) => {
        const call = callOf(request);
        const { run } = await requireVisibleRun(call, request.params.run);
        await asConflict(stop(call.context, run, request.body.reason));
        return statusOf(call, run);
      },
    });
  }
  server.route({
    method: 'POST',
    url: '/runs/:run/promote',
    ...operation(changing, {
      operationId: 'promoteRun',
      summary: `Promotes a run with a canary, or decides which variant wins. ${runActionWords.promote.what}`,
      params: runParameters,
      querystring: noParameters,
      body: z.strictObject({
        reason,
        variant: z
          .string()
          .max(64)
          .optional()
          .describe('The variant that the rest of a run with `until: winner` gets.'),
      }),
      response: { 202: answer('The run; workers send the rest.', runStatus) },
    }),
    handler: async (request, reply) => {
      const call = callOf(request);
      const { run } = await requireVisibleRun(call, request.params.run);
      const { reason: words, variant } = request.body;
      const promoted =
        variant === undefined
          ? promoteRun(call.context, run, call.campaignSource.accountNamed, words)
          : promoteVariant(call.context, run, variant, words);
      await asConflict(promoted);
      return reply.code(202).send(await statusOf(call, run));
    },
  });
  server.route({
    method: 'POST',
    url: '/runs/:run/resume',
    ...operation(changing, {
      operationId: 'resumeRun',
      summary: 'Lets workers send a planned, paused or interrupted run.',
      params: runParameters,
      querystring: noParameters,
      body: reasonIfAny,
      response: { 202: answer('The run; workers send it.', runStatus) },
    }),
    handler: async (request, reply) => {
      const call = callOf(request);
      const { run } = await requireVisibleRun(call, request.params.run);
      await asConflict(
        resumeByWorkers(call.context, run, call.campaignSource.accountNamed, request.body.reason),
      );
      return reply.code(202).send(await statusOf(call, run));
    },
  });
}

function addStart(server: Routes): void {
  server.route({
    method: 'POST',
    url: '/runs',
    ...operation(starting, {
      operationId: 'startRun',
      summary: 'Starts a run of a campaign.',
      description:
        'The answer comes when the run is planned; then workers send it. A run that needs approval waits for it. The same call with the same `Idempotency-Key` returns the same run every time: repeat it after a lost answer.',
      headers: z.object({
        'idempotency-key': z
          .string(
            'expected the header Idempotency-Key, such as a UUID: with it, a repeated call returns the same run',
          )
          .regex(/^[\x21-\x7e]{1,200}$/, 'expected 1 to 200 printable characters, such as a UUID')
          .describe('Chosen by the caller, a new one for each run.'),
      }),
      querystring: noParameters,
      body: z.strictObject({
        campaign: z
          .string()
          .max(255)
          .describe('The name of its file in the folder of campaigns, such as `payroll.yaml`.'),
      }),
      response: {
        202: answer('The run; workers send it, unless it waits for approval.', startedRun),
      },
    }),
    handler: async (request, reply) => {
      const call = callOf(request);
      const { run, repeated } = await start(call, {
        key: request.headers['idempotency-key'],
        campaign: request.body.campaign,
      });
      const { state, stateReason } = await requireRun(call.context, run);
      return reply
        .code(202)
        .headers({
          location: `/api/v1/runs/${encodeURIComponent(run)}`,
          ...(repeated && { 'idempotent-replayed': 'true' }),
        })
        .send({ run, state, reason: formatReasonOrNull(stateReason) });
    },
  });
}

async function start(
  { context, token, startRun, ...starter }: Call,
  { key, campaign }: { readonly key: string; readonly campaign: string },
): Promise<{ readonly run: string; readonly repeated: boolean }> {
  const request = { token: token.name, accounts: token.accounts, key, campaign };
  const end = await startOnce(context, starter, () => startRun(context, request));
  switch (end.kind) {
    case 'under way': {
      const what = 'The same call is open and its run is being planned. Repeat the call in a moment.';
      throw new ProblemError(409, 'busy', what, { headers: { 'retry-after': '5' } });
    }
    case 'key of another': {
      const what = `This Idempotency-Key started run ${end.run} of another campaign. Choose another key.`;
      const problems = [{ where: 'headers/idempotency-key', what }];
      throw new ProblemError(422, 'input', what, { problems });
    }
    case 'planned':
    case 'repeated':
      return { run: end.run, repeated: end.kind === 'repeated' };
  }
}
