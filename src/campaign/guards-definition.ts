import { z } from 'zod';
import { booleanText, percentage, wholeNumber } from '../platform/scalars.ts';

const maxRows = 999_999_999;

export const guardKeys = {
  allowEmpty: booleanText
    .default(false)
    .describe('Whether a run can have no recipients; by default refused.'),
  maxInvalid: z
    .union(
      [
        percentage.transform((share) => ({ share })),
        z
          .string()
          .regex(/^\d{1,9}$/)
          .transform((rows) => ({ rows: Number(rows) })),
      ],
      { error: 'expected a share such as 50%, or a number of rows' },
    )
    .meta({ type: ['string', 'integer'], default: '50%' })
    .default({ share: 0.5 })
    .describe(
      'The most invalid rows: a share such as 5%, or a number. Rows without an address do not count.',
    ),
  minRecipients: wholeNumber(0, maxRows, 0).describe('The fewest recipients of a run.'),
};

export type Guards = {
  readonly allowEmpty: boolean;
  readonly maxInvalid: { readonly share: number } | { readonly rows: number };
  readonly minRecipients: number;
};

export function guardsAgree({
  allowEmpty,
  minRecipients,
}: Pick<Guards, 'allowEmpty' | 'minRecipients'>): boolean {
  return !allowEmpty || minRecipients === 0;
}
