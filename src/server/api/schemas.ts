import { z } from 'zod';
import { channels } from '../../domain/message.ts';
import { allNotifiedEvents } from '../../domain/notify.ts';
import {
  type ContactCounts,
  recipientStates,
  requestStates,
  resolutions,
  runKinds,
  runPhases,
  runStates,
} from '../../domain/runs.ts';
import { waitKinds } from '../../domain/waits.ts';
import type { VariantResult } from '../../ledger/watch/variant-results.ts';
import { auditColumns } from '../../report/lists/audit.ts';
import { decisionColumns } from '../../report/lists/decisions.ts';
import { runAbout, runColumns } from '../../report/lists/runs.ts';
import { scheduleColumns, tickColumns } from '../../report/lists/schedules.ts';
import { tokenColumns } from '../../report/lists/tokens.ts';
import { lineSchema } from './line-schema.ts';

export const problemKinds = [
  'input',
  'token',
  'scope',
  'not found',
  'conflict',
  'nothing new',
  'format',
  'busy',
  'unavailable',
  'internal',
] as const;

/** RFC 9457. */
export const problem = z
  .object({
    type: z.literal('about:blank'),
    title: z.string().describe('The status in words.'),
    status: z.int(),
    detail: z.string().describe('The problem, what was expected, and what to do.'),
    kind: z.enum(problemKinds).describe('The same for programs.'),
    problems: z
      .array(z.object({ where: z.string(), what: z.string() }))
      .describe('Each mistake: where it is, and what to do.'),
    call: z.string().optional().describe('The id of the call in the log of Volley.'),
  })
  .meta({ id: 'Problem' });

const count = z.int().min(0);

/** Answers contain the properties of these schemas only. */
const runHead = lineSchema(runColumns).meta({ id: 'Run' });

export const runPage = z
  .object({
    runs: z.array(runHead),
    next: z.string().nullable().describe('The value of `before` for the next page; null on the last page.'),
  })
  .meta({ id: 'RunPage' });

export const campaignList = z.object({ campaigns: z.array(z.string()) }).meta({ id: 'Campaigns' });

const runSummary = z.object({
  run: z.string(),
  campaign: z.string(),
  kind: z.enum(runKinds).describe(runAbout.kind),
  state: z.enum(runStates),
  contacts: z.object({
    read: count,
    invalid: count,
    duplicate: count,
    suppressed: count,
    beyondLimit: count.optional().describe('Rows left for a later run; missing without a limit or winner.'),
  } satisfies Record<keyof ContactCounts, z.ZodType>),
  requests: z.record(z.enum(['total', ...requestStates]), count),
  recipients: z.record(z.enum(['total', ...recipientStates]), count),
  reportedUnsent: count
    .optional()
    .describe(
      'Recipients with a final delivery report whose requests were never sent: as `recipients` has them, they are cancelled or pending. Missing if there are none.',
    ),
  waits: z
    .array(
      z.object({ timeZones: z.array(z.string()), until: z.string(), requests: count, recipients: count }),
    )
    .optional()
    .describe('Requests that wait until their window opens; missing if there are none.'),
  doubts: z
    .array(z.object({ reason: z.string(), requests: count, recipients: count }))
    .optional()
    .describe('Why requests are in doubt, the largest groups first; missing if none is.'),
});

/** What `volley status --json` prints. */
export const runStatus = runSummary
  .extend({
    reason: z.string().nullable().describe(runAbout.reason),
    phase: z
      .enum(runPhases)
      .nullable()
      .describe('`settling doubts` when everything else is sent. Null if the run is not running.'),
    waitsFor: z
      .array(z.object({ kind: z.enum(Object.keys(waitKinds)) }).loose())
      .describe(
        'What it waits for, the most important first: a kind, and its values. Empty while it is sent.',
      ),
    unattended: z.boolean().describe('Whether it is running and no worker sends it.'),
    preemptedBy: z.string().nullable().describe('The more urgent run of its account that it waits for.'),
    refusal: z
      .object({ since: z.date(), retryAt: z.date(), reason: z.string() })
      .nullable()
      .describe('The service refuses all requests of its account. One request probes it at `retryAt`.'),
    clockStep: z
      .object({ at: z.date(), seconds: z.number() })
      .nullable()
      .describe("How far the database's clock was set back since the run was planned."),
    held: z.string().nullable().describe('The reason why nothing is sent from the ledger.'),
    variants: z
      .array(
        z.object({
          variant: z.number(),
          name: z.string().nullable(),
          recipients: count,
          accepted: count,
          unknown: count,
          delivered: count,
          undelivered: count,
          replied: count,
          optedOut: count,
          price: z.string(),
          estimated: z.string(),
          currency: z.string().nullable(),
        } satisfies Record<keyof VariantResult, z.ZodType>),
      )
      .describe('What came of each variant that was sent; empty if the campaign has none.'),
    unappliedReports: z
      .object({ waiting: count, since: z.date().nullable(), failed: count })
      .nullable()
      .describe(
        'Delivery reports of all accounts that are not applied: due for longer than a minute, `since` when, or refused by Postgres. Null if there are none.',
      ),
    decisions: z
      .array(lineSchema(decisionColumns, { record: z.unknown() }))
      .describe('What was decided about a run with a canary, a guard or variants, oldest first.'),
    notifications: z
      .array(
        z.object({
          notification: z.string(),
          event: z.enum(allNotifiedEvents),
          way: z.enum(['command', 'webhook', 'email']),
          state: z.enum(['due', 'acknowledged', 'given up']),
          createdAt: z.date(),
          attempts: count,
          problem: z.string().nullable(),
          endedAt: z.date().nullable(),
          mailRun: z.string().nullable().describe('The run that sends the e-mail.'),
          mailState: z.enum(runStates).nullable(),
        }),
      )
      .describe('The notifications of the run.'),
  })
  .meta({ id: 'RunStatus', description: 'A run in numbers; the states add up to the totals.' });

export const startedRun = z
  .object({
    run: z.string(),
    state: z.enum(runStates),
    reason: z.string().nullable().describe('For example that it waits for approval.'),
  })
  .meta({ id: 'StartedRun' });

export const approval = z
  .object({ run: z.string(), by: z.string(), approvedAt: z.date(), reason: z.string() })
  .meta({ id: 'Approval' });

export const resolved = z
  .object({ run: z.string(), resolution: z.enum(resolutions), requests: count, recipients: count })
  .meta({ id: 'Resolved' });

export const scheduleList = z
  .object({
    schedules: z.array(
      lineSchema(scheduleColumns, {
        active: z.boolean().describe('Whether the file exists.'),
        times: z.object({
          cron: z.string().optional(),
          at: z.array(z.string()).optional(),
          timeZone: z.string(),
          catchUp: z.number().describe('Milliseconds.'),
          overlap: z.string(),
        }),
      }),
    ),
    ticks: z.array(lineSchema(tickColumns)).describe('The latest ticks, newest first.'),
  })
  .meta({ id: 'Schedules' });

export const auditPage = z
  .object({
    entries: z.array(
      lineSchema(auditColumns, { entry: z.string(), details: z.record(z.string(), z.unknown()) }),
    ),
    next: z.string().nullable().describe('The value of `before` for the next page; null on the last page.'),
  })
  .meta({ id: 'AuditPage' });

export const tokenList = z
  .object({
    tokens: z.array(
      lineSchema(tokenColumns(new Date(0)), {
        accounts: z.array(z.string()).nullable().describe('The accounts of the token; null: all.'),
      }),
    ),
  })
  .meta({ id: 'Tokens' });

const row = z.record(z.string(), z.union([z.string(), z.number(), z.null()]));

/** Decimals are texts, so that they stay exact. */
export const sheet = z
  .object({
    title: z.string(),
    subtitle: z.array(z.string()),
    asOf: z.iso.datetime(),
    read: z
      .discriminatedUnion('from', [
        z.object({ from: z.literal('replica'), secondsBehind: count }),
        z.object({ from: z.literal('primary'), because: z.string() }),
      ])
      .optional()
      .describe('Where there is a replica: how old it was, or why it was not read.'),
    rows: z.array(row),
    totals: z.array(row),
  })
  .meta({ id: 'Report' });

export const runReport = z
  .looseObject({
    summary: runSummary,
    stateReason: z.string().nullable(),
    account: z.string(),
    channel: z.enum(channels),
    timeZone: z.string(),
    timeline: z.array(z.looseObject({})),
    sending: z.looseObject({}),
    failures: z.array(z.looseObject({})),
    money: z.looseObject({}).nullable(),
  })
  .meta({ id: 'RunReport' });
