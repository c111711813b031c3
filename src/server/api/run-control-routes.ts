import { z } from 'zod';
import { formatReasonOrNull } from '../../domain/reasons.ts';
import { startOnce } from '../../engine/access/once-per-key.ts';
import { resumeByWorkers } from '../../engine/runs/begin-run.ts';
import { requireRun } from '../../engine/runs/find-run.ts';
import { cancel, pause } from '../../engine/runs/stop-run.ts';
import { type Call, callOf, requireVisibleRun } from './call.ts';
import { asConflict, ProblemError } from './problem.ts';
import { answer, noParameters, type Routes, reason, reasonIfAny, runParameters, scoped } from './route.ts';
import { statusOf } from './run-routes.ts';
import { runStatus, startedRun } from './schemas.ts';

export function addRunControlRoutes(server: Routes): void {
  addStart(server);
  const stopping = scoped('run', 404, 409, 413, 415);
  const stop = (what: 'pause' | 'cancel', summary: string, work: typeof pause, byDefault: string): void => {
    server.route({
      method: 'POST',
      url: `/runs/:run/${what}`,
      config: stopping.config,
      schema: {
        operationId: `${what}Run`,
        summary,
        security: stopping.security,
        params: runParameters,
        querystring: noParameters,
        body: z.strictObject({ reason: reason.default(byDefault) }),
        response: { 200: answer('The run as it is now.', runStatus), ...stopping.problems },
      },
      handler: async (request) => {
        const call = callOf(request);
        const { run } = await requireVisibleRun(call, request.params.run);
        await asConflict(work(call.context, run, request.body.reason));
        return statusOf(call, run);
      },
    });
  };
  stop(
    'pause',
    'Pauses a run: no more of it is sent; answers to requests in flight are recorded.',
    pause,
    'paused over the API',
  );
  stop(
    'cancel',
    'Ends a run for good: what is not sent yet is never sent; answers to requests in flight are recorded.',
    cancel,
    'cancelled over the API',
  );

  const resuming = scoped('run', 404, 409, 413, 415);
  server.route({
    method: 'POST',
    url: '/runs/:run/resume',
    config: resuming.config,
    schema: {
      operationId: 'resumeRun',
      summary: 'Lets workers send a planned, paused or interrupted run.',
      security: resuming.security,
      params: runParameters,
      querystring: noParameters,
      body: reasonIfAny,
      response: { 202: answer('The run; workers send it.', runStatus), ...resuming.problems },
    },
    handler: async (request, reply) => {
      const call = callOf(request);
      const { run } = await requireVisibleRun(call, request.params.run);
      await asConflict(
        resumeByWorkers(call.context, run, call.scheduleSource.accountNamed, request.body.reason),
      );
      return reply.code(202).send(await statusOf(call, run));
    },
  });
}

function addStart(server: Routes): void {
  const starting = scoped('run', 409, 413, 415, 422);
  server.route({
    method: 'POST',
    url: '/runs',
    config: starting.config,
    schema: {
      operationId: 'startRun',
      summary: 'Starts a run of a campaign.',
      description:
        'The answer comes when the run is planned; then workers send it. A run that needs approval waits for it. The same call with the same `Idempotency-Key` returns the same run every time: repeat it after a lost answer.',
      security: starting.security,
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
        ...starting.problems,
      },
    },
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
