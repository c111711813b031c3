import { z } from 'zod';
import { formatReason } from '../../domain/reasons.ts';
import { resolutions } from '../../domain/runs.ts';
import { approveRun } from '../../engine/plan/approve-run.ts';
import { resolveDoubts } from '../../engine/runs/resolve-doubts.ts';
import { listAudit } from '../../ledger/audit/audit.ts';
import { listTokens } from '../../ledger/tokens/tokens.ts';
import { toRecord } from '../../report/formats/json.ts';
import { auditColumns } from '../../report/lists/audit.ts';
import { tokenColumns } from '../../report/lists/tokens.ts';
import { resolutionWords } from '../../report/look-up-words.ts';
import { auditQuestion, plainText, toAuditFilter } from '../../report/questions.ts';
import { runActionWords } from '../../report/run-action-words.ts';
import { callOf, requireVisibleRun } from './call.ts';
import { asConflict } from './problem.ts';
import { answer, noParameters, operation, type Routes, reason, reasonIfAny, runParameters } from './route.ts';
import { approval, auditPage, resolved, tokenList } from './schemas.ts';

const forAdmins = { scope: 'admin', allAccounts: true } as const;
const approving = { scope: 'approve', refusals: [404, 409, 413, 415] } as const;
const resolving = { scope: 'admin', refusals: [404, 409, 413, 415] } as const;

export function addAdminRoutes(server: Routes): void {
  addApprove(server);
  addResolve(server);
  addAudit(server);
  server.route({
    method: 'GET',
    url: '/tokens',
    ...operation(forAdmins, {
      operationId: 'listTokens',
      summary: 'Lists the tokens by name, without their secrets. `volley token` creates and revokes them.',
      querystring: noParameters,
      response: { 200: answer('The tokens, by name.', tokenList) },
    }),
    handler: async (request) => {
      const { ledger, now } = callOf(request).context;
      const columns = tokenColumns(now());
      const tokens = await listTokens(ledger.pool);
      return { tokens: tokens.map((token) => toRecord(columns, token)) };
    },
  });
}

function addApprove(server: Routes): void {
  server.route({
    method: 'POST',
    url: '/runs/:run/approve',
    ...operation(approving, {
      operationId: 'approveRun',
      summary: "Approves a run that waits for approval, as the token's owner.",
      description: `The owner must be another person than the planner, the persons who put in the schedule, and the makers of the token with which it was planned. The makers of the caller's token must not have planned it. ${runActionWords.approve.what}`,
      params: runParameters,
      querystring: noParameters,
      body: reasonIfAny,
      response: { 200: answer('The approval.', approval) },
    }),
    handler: async (request) => {
      const call = callOf(request);
      const { run } = await requireVisibleRun(call, request.params.run);
      const approved = await asConflict(approveRun(call.context, run, request.body.reason));
      const { approvedBy: by, approvedAt, reason } = approved;
      if (by === null || approvedAt === null) throw new Error('an approved run has an approver and a time');
      return { run, by, approvedAt, reason: formatReason(reason) };
    },
  });
}

const resolveBody = z
  .strictObject({
    resolution: z
      .enum(resolutions)
      .describe(resolutions.map((each) => `${each}: ${resolutionWords[each].what}`).join(' ')),
    reason,
    requests: z
      .array(plainText(64))
      .min(1)
      .max(1_000)
      .optional()
      .describe('Only these, by number or MessageID; default: all that are in doubt.'),
    answer: plainText(200)
      .optional()
      .describe(
        'Only those with this answer, or with a reason that begins so, such as `HTTP 404`. Not together with `requests`.',
      ),
  })
  .refine(({ requests, answer: ofAnswer }) => requests === undefined || ofAnswer === undefined, {
    error: '"requests" and "answer" exclude each other. Use one of them.',
  });

function addResolve(server: Routes): void {
  server.route({
    method: 'POST',
    url: '/runs/:run/resolve',
    ...operation(resolving, {
      operationId: 'resolveRun',
      summary: "Resolves requests in doubt. The decision of the token's owner is recorded.",
      params: runParameters,
      querystring: noParameters,
      body: resolveBody,
      response: { 200: answer('How many were resolved.', resolved) },
    }),
    handler: async (request) => {
      const call = callOf(request);
      const { run } = await requireVisibleRun(call, request.params.run);
      const { resolution, reason, requests: named, answer: ofAnswer } = request.body;
      const decision = { resolution, reason, by: call.token.owner };
      const done = await asConflict(resolveDoubts(call.context, { run, named, answer: ofAnswer }, decision));
      const recipients = done.reduce((sum, one) => sum + one.recipients, 0);
      return { run, resolution, requests: done.length, recipients };
    },
  });
}

const maxEntries = 1_000;

function addAudit(server: Routes): void {
  server.route({
    method: 'GET',
    url: '/audit',
    ...operation(forAdmins, {
      operationId: 'listAudit',
      summary: 'The audit trail, newest first.',
      querystring: auditQuestion.schema.extend({
        limit: z.coerce.number().int().min(1).max(maxEntries).default(100),
      }),
      response: { 200: answer('A page of the audit trail.', auditPage) },
    }),
    handler: async (request) => {
      const { limit, ...asked } = request.query;
      const { pool } = callOf(request).context.ledger;
      const found = await listAudit(pool, toAuditFilter(asked, 'UTC'), limit + 1);
      const entries = found.slice(0, limit);
      return {
        entries: entries.map((entry) => toRecord(auditColumns, entry)),
        next: found.length > limit ? (entries.at(-1)?.entry ?? null) : null,
      };
    },
  });
}
