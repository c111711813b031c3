import { z } from 'zod';
import { canaryPromotions } from '../domain/decisions.ts';
import { duration, percentage } from '../platform/scalars.ts';

const expectedRecipients = 'expected a share above 0%, such as 2%, or a number of recipients, such as 500';

const recipients = z
  .union(
    [
      percentage
        .refine((share) => share > 0, expectedRecipients)
        .transform((share) => ({ kind: 'share', share }) as const),
      z
        .string()
        .regex(/^[1-9]\d{0,8}$/)
        .transform((written) => ({ kind: 'number', recipients: Number(written) }) as const),
    ],
    { error: expectedRecipients },
  )
  .meta({ type: ['string', 'integer'], default: '2%' })
  .prefault('2%')
  .describe('How many go first: a share of all recipients, or a number.');

const expectedObserve = 'expected a duration from 1s to 30d, such as 30m';

const observe = duration
  .refine((milliseconds) => milliseconds >= 1_000 && milliseconds <= 30 * 86_400_000, expectedObserve)
  .prefault('30m')
  .describe(
    'How long delivery reports are waited for, once the canary is sent. If all are in, the run does not wait for the rest of this time.',
  );

const abort = z
  .strictObject({
    rejected: percentage
      .prefault('2%')
      .describe('The most recipients that the service may reject, or that it never gets.'),
    undelivered: percentage
      .optional()
      .meta({ default: '10%' })
      .describe('The most recipients with a delivery report that may be undelivered.'),
    unreported: percentage
      .optional()
      .meta({ default: '50%' })
      .describe('The most recipients that may have no delivery report when the time is over.'),
  })
  .prefault({})
  .describe(
    'The run pauses when its canary shows more than this. Of an account without a webhook and a status look-up, only `rejected` has a default.',
  );

export const canary = z
  .strictObject({
    recipients,
    observe,
    promote: z
      .enum(canaryPromotions)
      .default('auto')
      .describe(
        '`manual`: a person promotes the run (`volley promote`), even if nothing is above its limit.',
      ),
    abort,
  })
  .optional()
  .describe(
    'A part of the run goes first: random, and in the proportions of its SubAccounts, ChargeCodes and destinations. Then the rest is sent, or the run pauses.',
  );

/** A canary in the definition of a run. */
export const frozenCanary = z
  .object({
    recipients: z.union([
      z.object({ kind: z.literal('share'), share: z.number() }),
      z.object({ kind: z.literal('number'), recipients: z.number() }),
    ]),
    observe: z.number(),
    promote: z.enum(canaryPromotions),
    abort: z.object({
      rejected: z.number(),
      undelivered: z.number().optional(),
      unreported: z.number().optional(),
    }),
  })
  .optional();
