import { z } from 'zod';
import type { ApprovalReason } from '../domain/reasons.ts';
import { compareAmounts } from '../platform/money.ts';
import { decimal, wholeNumber } from '../platform/scalars.ts';
import type { CostEstimate } from './cost.ts';

const limits = z
  .strictObject({
    aboveRecipients: wholeNumber(0, 999_999_999, 0)
      .removeDefault()
      .optional()
      .describe('Above this number of recipients.'),
    aboveCost: decimal(1_000_000_000).optional().describe('Above this estimated cost, or if it is unknown.'),
  })
  .refine(({ aboveRecipients, aboveCost }) => aboveRecipients !== undefined || aboveCost !== undefined, {
    error: 'expected aboveRecipients or aboveCost',
  });

export const approval = z
  .union([z.literal('required'), limits], {
    error: 'expected required, or { aboveRecipients: …, aboveCost: … }',
  })
  .meta({ type: ['string', 'object'] })
  .optional()
  .describe(
    'Whether another person must approve a run (`volley approve`): always (`required`), or above a number or a cost.',
  );

export type Approval = NonNullable<z.output<typeof approval>>;

/** Reads an approval as it is stored with a planned run. */
export const storedApproval: z.ZodType<Approval | undefined> = z
  .union([
    z.literal('required'),
    z.object({ aboveRecipients: z.number().optional(), aboveCost: z.string().optional() }),
  ])
  .optional();

export function approvalReason(
  written: Approval | undefined,
  recipients: number,
  estimate: CostEstimate,
): ApprovalReason | undefined {
  if (written === undefined) return undefined;
  if (written === 'required') return { kind: 'every_run' };
  const { aboveRecipients, aboveCost } = written;
  if (aboveRecipients !== undefined && recipients > aboveRecipients) {
    return { kind: 'many_recipients', recipients, limit: aboveRecipients };
  }
  if (aboveCost === undefined) return undefined;
  if (estimate.kind === 'unknown') return { kind: 'unknown_cost', words: estimate.why };
  if (compareAmounts(estimate.total, aboveCost) <= 0) return undefined;
  return { kind: 'high_cost', cost: estimate.total, currency: estimate.currency, limit: aboveCost };
}
