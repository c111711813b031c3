import { z } from 'zod';
import { auditActions } from '../../domain/access.ts';
import { formatReason } from '../../domain/reasons.ts';
import { resolutions } from '../../domain/runs.ts';
import { approveRun } from '../../engine/plan/approve-run.ts';
import { resolveDoubts } from '../../engine/runs/resolve-doubts.ts';
import { listAudit } from '../../ledger/audit/audit.ts';
import { listTokens } from '../../ledger/tokens/tokens.ts';
import { toRecord } from '../../report/formats/json.ts';
import { auditColumns } from '../../report/lists/audit.ts';
import { tokenColumns } from '../../report/lists/tokens.ts';
import { callOf, requireVisibleRun } from './call.ts';
import { asConflict } from './problem.ts';
import {
  answer,
  noParameters,
  plainText,
  type Routes,
  reason,
  reasonIfAny,
  runParameters,
  scoped,
  scopedToAllAccounts,
} from './route.ts';
import { approval, auditPage, resolved, tokenList } from './schemas.ts';

export function addAdminRoutes(server: Routes): void {
  addApprove(server);
  addResolve(server);
  addAudit(server);
  const tokens = scopedToAllAccounts('admin');
  server.route({
    method: 'GET',
    url: '/tokens',
    config: tokens.config,
    schema: {
      operationId: 'listTokens',
      summary: 'Lists the tokens by name, without their secrets. `volley token` creates and revokes them.',
      security: tokens.security,
      querystring: noParameters,
      response: { 200: answer('The tokens, by name.', tokenList), ...tokens.problems },
    },
    handler: async (request) => {
      const { ledger, now } = callOf(request).context;
      const columns = tokenColumns(now());
      const tokens = await listTokens(ledger.pool);
      return { tokens: tokens.map((token) => toRecord(columns, token)) };
    },
  });
}

function addApprove(server: Routes): void {
  const approving = scoped('approve', 404, 409, 413, 415);
  server.route({
    method: 'POST',
    url: '/runs/:run/approve',
    config: approving.config,
    schema: {
      operationId: 'approveRun',
      summary: "Approves a run that waits for approval, as the token's owner.",
      description:
        "The owner must be another person than the planner, the persons who put in the schedule, and the makers of the token with which it was planned. The makers of the caller's token must not have planned it. The campaign and its contact files must be unchanged. A run of a schedule or of the API then starts by itself.",
      security: approving.security,
      params: runParameters,
      querystring: noParameters,
      body: reasonIfAny,
      response: { 200: answer('The approval.', approval), ...approving.problems },
    },
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
      .describe(
        'accepted: the service has them. resend: send them again; recipients can get the message twice. abandon: give them up.',
      ),
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
        'Only those with this answer, or whose reason begins with these words, such as `HTTP 404`. Not together with `requests`.',
      ),
  })
  .refine(({ requests, answer: ofAnswer }) => requests === undefined || ofAnswer === undefined, {
    error: '"requests" and "answer" exclude each other. Use one of them.',
  });

function addResolve(server: Routes): void {
  const resolving = scoped('admin', 404, 409, 413, 415);
  server.route({
    method: 'POST',
    url: '/runs/:run/resolve',
    config: resolving.config,
    schema: {
      operationId: 'resolveRun',
      summary: "Resolves requests in doubt. The decision of the token's owner is recorded.",
      security: resolving.security,
      params: runParameters,
      querystring: noParameters,
      body: resolveBody,
      response: { 200: answer('How many were resolved.', resolved), ...resolving.problems },
    },
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
  const audit = scopedToAllAccounts('admin');
  server.route({
    method: 'GET',
    url: '/audit',
    config: audit.config,
    schema: {
      operationId: 'listAudit',
      summary: 'Lists the audit trail, newest first.',
      security: audit.security,
      querystring: z.strictObject({
        run: runParameters.shape.run.optional(),
        who: plainText(200).optional(),
        action: z.enum(auditActions).optional(),
        since: z.iso
          .datetime()
          .optional()
          .describe('Entries from this time on, such as 2026-11-21T08:00:00Z.'),
        limit: z.coerce.number().int().min(1).max(maxEntries).default(100),
        before: z
          .string()
          .regex(/^\d{1,18}$/, 'expected `next` of an earlier page')
          .optional(),
      }),
      response: { 200: answer('A page of the audit trail.', auditPage), ...audit.problems },
    },
    handler: async (request) => {
      const { since, limit, ...filter } = request.query;
      const { pool } = callOf(request).context.ledger;
      const from = since === undefined ? undefined : new Date(since);
      const found = await listAudit(pool, { ...filter, since: from }, limit + 1);
      const entries = found.slice(0, limit);
      return {
        entries: entries.map((entry) => toRecord(auditColumns, entry)),
        next: found.length > limit ? (entries.at(-1)?.entry ?? null) : null,
      };
    },
  });
}
