import { z } from 'zod';
import { winnerMeasures } from '../domain/decisions.ts';
import { duration, percentage, plainName } from '../platform/scalars.ts';
import { message } from './message-keys.ts';

export const maxVariants = 5;

const variant = z
  .strictObject({
    name: plainName.describe('Its name in plans and reports.'),
    share: percentage.describe('Its share of the recipients, such as 50%.'),
    message: message.optional().describe('As `message`: the keys that are different in this variant.'),
    send: z
      .literal('nothing')
      .optional()
      .describe('`nothing`: the control group. Its people are left out, in each run of the campaign.'),
  })
  .refine(({ message, send }) => send === undefined || message === undefined, {
    path: ['message'],
    error: 'expected none: a control group gets nothing',
  });

export const variants = z
  .array(variant)
  .min(2, 'expected 2 to 5 variants')
  .max(maxVariants, 'expected 2 to 5 variants')
  .optional()
  .describe(
    'Two to five texts of which each recipient gets one, always the same. Their shares add up to 100%, or with `until` to less.',
  );

/** The part of a frozen definition that is about variants. */
export const frozenVariants = z.object({
  variants: z.array(z.object({ name: z.string(), send: z.literal('nothing').optional() })).optional(),
  until: z
    .object({ by: z.enum(winnerMeasures), observe: z.number(), otherwise: z.enum(['first', 'ask']) })
    .optional(),
});

const day = 86_400_000;

const observe = duration.refine((milliseconds) => milliseconds >= 1_000 && milliseconds <= 30 * day, {
  error: 'expected a duration from 1s to 30d, such as 4h',
});

const winner = z.strictObject({
  by: z
    .enum(winnerMeasures)
    .default('delivered')
    .describe('The better one has more recipients `delivered` or `replied`, or fewer `optedOut`.'),
  observe: observe.prefault('4h').describe('How long Volley observes at most, once all are sent.'),
  otherwise: z
    .enum(['first', 'ask'])
    .default('first')
    .describe('Without a winner: send the first variant, or `ask` a person (`volley promote`).'),
});

export const until = z
  .union([z.literal('winner').transform(() => winner.parse({})), winner], {
    error: 'expected winner, or { by: replied, observe: 4h, otherwise: ask }',
  })
  .meta({ type: ['string', 'object'] })
  .optional()
  .describe(
    '`winner`: the variants go to their shares only. Then a run of its own sends the better one to the rest.',
  );
