import { z } from 'zod';
import { duration, percentage, wholeNumber } from '../platform/scalars.ts';

/** What a guard does when it finds something. */
const guardActions = ['pause', 'warn'] as const;

/** How many requests of a run are sent before an answer shows that its address is right, unless `failFast` says it. */
export const firstByDefault = 20;

/** The older part of the guard, under `dispatch`. */
export const failFast = z
  .strictObject({
    first: wholeNumber(1, 1000, firstByDefault).describe(
      'So many requests go first. If all are rejected, or what answers is not the interface, the run pauses.',
    ),
    share: percentage
      .optional()
      .describe('After that, it pauses when more than this share is rejected, such as 5%.'),
  })
  .optional()
  .describe(
    `The part of the guard that pauses a run by its first answers, without a test. Without it, a run still pauses when what answers its first ${firstByDefault} requests is not the interface.`,
  );

/** With a larger share, a test could find nothing. */
const limit = percentage.refine((share) => share <= 0.9, {
  error: 'expected a share of at most 90%, such as 5%',
});

/** The error of what has no keys. */
function expected(message: string) {
  return { error: ({ code }: z.core.$ZodRawIssue) => (code === 'invalid_type' ? message : undefined) };
}

const undelivered = z
  .strictObject(
    {
      above: limit.optional().describe('The most that may be undelivered, such as 5%.'),
      or: z.literal('usual').optional().describe('Or what is usual.'),
    },
    expected('expected { above: 5% }, { or: usual } or both'),
  )
  .refine(({ above, or }) => above !== undefined || or !== undefined, {
    error: 'expected above, or, or both',
  })
  .transform(({ above, or }) => ({ above, usual: or !== undefined }))
  .optional()
  .describe(
    'Stop when significantly more recipients of a destination or of the run are undelivered than 5%, than usual, or than either: { above: 5%, or: usual }. A destination is a mail domain, or the first six characters of a number. Usual is what the canary of the run, former runs of the campaign at this destination, or the account had.',
  );

const ofRequests = (what: string) =>
  limit
    .optional()
    .describe(`Stop when significantly more than this share of requests is ${what}, such as 2%.`);

const limits = z
  .strictObject(
    {
      undelivered,
      silence: duration
        .refine((milliseconds) => milliseconds > 0, { error: 'expected more than 0s' })
        .optional()
        .describe(
          'Stop when no delivery report has come for so long, such as 20m, although requests were accepted.',
        ),
      price: z
        .literal('rate card', { error: 'expected rate card' })
        .optional()
        .describe(
          '`rate card`: stop when prices in delivery reports are far from the `rates` of the account (by ten times).',
        ),
      rejected: ofRequests('rejected'),
      unknown: ofRequests('in doubt'),
      action: z.enum(guardActions).default('pause').describe('`warn`: only record it and notify, once.'),
    },
    expected('expected pause or warn, which are of undelivered: { or: usual }, or { silence: 20m, … }'),
  )
  .refine(({ action: _, ...watched }) => Object.values(watched).some((each) => each !== undefined), {
    error: 'expected undelivered, silence, price, rejected or unknown',
  });

export const guard = z
  // As the keys that the word stands for, so that a mistake in keys is found where it stands.
  .preprocess(
    (written) =>
      guardActions.some((action) => action === written)
        ? { action: written, undelivered: { or: 'usual' } }
        : written,
    limits,
  )
  .meta({ type: ['string', 'object'] })
  .optional()
  .describe(
    'When a run stops by itself while it is sent. `pause`, `warn`: when more than usual is undelivered. `dispatch.failFast` is a part of it.',
  );

export const storedFailFast = z.object({ first: z.number(), share: z.number().optional() }).optional();

/** Reads the guard of a run as it is stored; undefined: it has none. */
export const storedGuard = z
  .object({
    dispatch: z.object({ failFast: storedFailFast }).optional(),
    guard: z
      .object({
        undelivered: z.object({ above: z.number().optional(), usual: z.boolean() }).optional(),
        silence: z.number().optional(),
        price: z.literal('rate card').optional(),
        rejected: z.number().optional(),
        unknown: z.number().optional(),
        action: z.enum(guardActions),
      })
      .optional(),
  })
  .transform(({ guard: stored, dispatch }) =>
    stored === undefined ? undefined : { ...stored, first: dispatch?.failFast?.first ?? firstByDefault },
  );
