import { z } from 'zod';
import { auditActions, auditOutcomes } from '../domain/access.ts';
import { channels } from '../domain/message.ts';
import { runKinds, runStates } from '../domain/runs.ts';
import { isDayOrTime } from '../domain/scalar-text.ts';
import { suppressionSources } from '../domain/suppressions.ts';
import type { AuditFilter } from '../ledger/audit/audit.ts';
import type { RunFilter } from '../ledger/runs/find.ts';
import { toInstant } from '../platform/zoned-times.ts';

/** A text that is safe in Postgres and on a terminal. */
export function plainText(maxLength: number) {
  return z
    .string()
    .max(maxLength)
    .refine((text) => text.isWellFormed() && !/(?![\n\t])\p{Cc}/u.test(text), {
      error: 'expected a text of Unicode without control characters',
    });
}

/** The id of a run, as a caller writes it. */
export const runId = z
  .string()
  .regex(/^[\w-]{1,64}$/, 'expected the id of a run, such as 261121-7k2mq8vb')
  .describe("The run's id.");

const name = plainText(200);
const dayOrTime = z.string().refine(isDayOrTime, { error: 'expected a date such as 2026-11-21' });
const from = dayOrTime.describe('From this day or time on, such as 2026-11-21 or 2026-11-21T08:00:00Z.');
const until = dayOrTime.describe('Until the end of this day, or before this time.');

/** What can be asked of a list, by a call of the API and by the form of its page. Fields of the form have a label. */
export type Question<Schema extends z.ZodObject = z.ZodObject> = {
  readonly schema: Schema;
  readonly labels: Readonly<Record<string, string>>;
  /** Names of fields that a form offers as dates. */
  readonly days?: readonly string[];
};

export const runQuestion = {
  schema: z
    .strictObject({
      q: plainText(300).describe("The beginning of a run's id, or a part of the name of its campaign."),
      state: z.enum(runStates),
      channel: z.enum(channels),
      kind: z.enum(runKinds),
      account: name,
      from,
      to: until,
      campaign: name.describe("The campaign's name."),
      before: runId.describe('Only runs planned before this one: `next` of the previous page.'),
    })
    .partial(),
  labels: {
    q: 'Run or campaign',
    state: 'State',
    channel: 'Channel',
    kind: 'Kind',
    account: 'Account',
    from: 'Planned from',
    to: 'Until',
  },
  days: ['from', 'to'],
} as const;

/** @param zone of the days that are asked */
export function toRunFilter(
  { q, from, to, before: _, ...equal }: z.output<typeof runQuestion.schema>,
  zone: string,
): RunFilter {
  return { ...equal, search: q, plannedFrom: startOf(from, zone), plannedBefore: endOf(to, zone) };
}

export const auditQuestion = {
  schema: z
    .strictObject({
      run: runId,
      who: name,
      token: name,
      action: z.enum(auditActions),
      outcome: z.enum(auditOutcomes),
      since: from,
      until,
      before: z.string().regex(/^\d{1,18}$/, 'expected `next` of an earlier page'),
    })
    .partial(),
  labels: {
    run: 'Run',
    who: 'Actor',
    token: 'Token',
    action: 'Action',
    outcome: 'Outcome',
    since: 'From',
    until: 'Until',
  },
  days: ['since', 'until'],
} as const;

/** @param zone of the days that are asked */
export function toAuditFilter(
  { since, until, ...equal }: z.output<typeof auditQuestion.schema>,
  zone: string,
): AuditFilter {
  return { ...equal, since: startOf(since, zone), until: endOf(until, zone) };
}

/** @param accounts which can be named */
export function suppressionQuestion(accounts: readonly string[]) {
  return {
    schema: z
      .strictObject({
        channel: z.enum(channels),
        account: z.enum(accounts),
        source: z.enum(suppressionSources),
        after: plainText(2_000),
      })
      .partial(),
    labels: { channel: 'Channel', account: 'Account', source: 'Source' },
  } as const;
}

/** What was asked, for the head of a report. */
export function describeAsked(asked: Readonly<Record<string, unknown>>): readonly string[] {
  return Object.entries(asked).flatMap(([name, value]) =>
    name === 'before' || value === undefined ? [] : [`${name}: ${String(value)}`],
  );
}

function startOf(written: string | undefined, zone: string): Date | undefined {
  if (written === undefined) return undefined;
  return written.includes('T') ? new Date(written) : toInstant(`${written}T00:00`, zone);
}

function endOf(written: string | undefined, zone: string): Date | undefined {
  return startOf(written?.includes('T') ? written : written && dayAfter(written), zone);
}

/** @param day such as `2026-12-31` */
export function dayAfter(day: string): string {
  const next = new Date(`${day}T00:00:00Z`);
  next.setUTCDate(next.getUTCDate() + 1);
  return next.toISOString().slice(0, 10);
}
