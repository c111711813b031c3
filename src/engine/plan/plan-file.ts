import { hash } from 'node:crypto';
import { z } from 'zod';
import { InputError } from '../../domain/problems.ts';
import { leftOutGroups } from '../../domain/rejected-contacts.ts';
import { parseJson } from '../../platform/parse-json.ts';
import type { EngineContext } from '../context.ts';

/**
 * The file of `volley plan --out`: what `volley run --plan` compares before it sends. It has digests and counts, so
 * that it can prove and explain, but no message, no secret, and of addresses only those of a test.
 */

const count = z.int().min(0);
const sha256 = z.string().regex(/^[0-9a-f]{64}$/);

/** Digests of values, which may be secret or personal, by their path in a file. */
const leaves = z.record(z.string(), z.string());
export type Leaves = z.output<typeof leaves>;

const planSchema = z.object({
  format: z.literal(1),
  /** The version of Volley that made it. */
  volley: z.string(),
  /** A plan is run once. The digests of texts depend on it. */
  id: z.string(),
  madeAt: z.iso.datetime(),
  /** Paths are relative to the plan file. */
  campaign: z.string(),
  contacts: z.array(z.string()).nullable(),
  of: z.string().nullable(),
  limit: count.nullable(),
  testTo: z.array(z.string()).nullable(),
  inputs: z.object({
    campaign: leaves,
    account: leaves,
    contactFiles: z.array(z.object({ name: z.string(), sha256, rows: count })),
    /** By the digests of their paths: a path can name a contact. */
    attachments: z.record(z.string(), sha256),
  }),
  result: z.object({
    filtered: count,
    invalid: count,
    leftOut: z.object({
      counts: z.partialRecord(z.enum(Object.values(leftOutGroups)), count),
      sha256,
    }),
    beyondLimit: count.nullable(),
    recipients: count,
    requests: count,
    windows: z.array(z.object({ zones: z.string(), requests: count, recipients: count })),
    smsParts: z.number().nullable(),
    pastSendTimes: count,
    cost: z.string(),
    contents: sha256,
  }),
});

export type PlanFile = z.output<typeof planSchema>;

/** What a run proves before it is committed: that it sends the same. */
export type ProvablePlan = Pick<PlanFile, 'id' | 'volley' | 'inputs' | 'result'>;

export function newPlanId({ randomBytes }: Pick<EngineContext, 'randomBytes'>): string {
  return randomBytes(16).toString('hex');
}

/** How long a plan can be run (milliseconds). */
export const maxPlanAge = 24 * 3_600_000;

export function formatPlanFile(plan: PlanFile): string {
  return `{"volleyPlan":${JSON.stringify(plan)},\n"sha256":"${hash('sha256', JSON.stringify(plan))}"}\n`;
}

/** Whether a file may be replaced by a new plan. */
export function isPlanFile(text: string): boolean {
  return text.startsWith('{"volleyPlan":{');
}

/** @throws InputError when it is no plan file, or a byte of it has changed */
export function parsePlanFile(text: string, name: string): PlanFile {
  const refuse = (what: string): never => {
    throw new InputError([{ where: name, what }]);
  };
  if (!isPlanFile(text))
    return refuse('This is no plan file; `volley plan <campaign> --out <file>` makes one.');
  const parsed = z.object({ volleyPlan: z.unknown() }).safeParse(parseJson(text)).data?.volleyPlan;
  const format = z.object({ format: z.number() }).safeParse(parsed).data?.format;
  if (format !== undefined && format !== 1)
    return refuse('Another version of Volley made this plan. Make a new one with `volley plan --out`.');
  const plan = planSchema.safeParse(parsed);
  if (plan.success && formatPlanFile(plan.data) === text) return plan.data;
  return refuse(
    'The file was changed after `volley plan` made it, so it proves nothing. Make a new one with `volley plan --out`.',
  );
}
