import { z } from 'zod';
import { duration, percentage } from '../platform/scalars.ts';
import { firstByDefault } from './dispatch.ts';

/** What a guard does when it finds something. */
export const guardActions = ['pause', 'warn'] as const;

/** Written for what the canary and former runs had. */
const usual = 'usual';

/** With a larger share, a test could find nothing. */
const limit = percentage.refine((share) => share <= 0.9, {
  error: 'expected a share of at most 90%, such as 5%',
});

/** Reads a text as the keys that it stands for, so that a mistake in keys is found where it stands. */
function shortened<Schema extends z.ZodType>(short: (written: string) => unknown, schema: Schema) {
  return z
    .preprocess((written) => (typeof written === 'string' ? short(written) : written), schema)
    .meta({ type: ['string', 'object'] });
}

/** The error of what is neither keys nor a text that stands for some. */
function expected(message: string) {
  return { error: ({ code }: z.core.$ZodRawIssue) => (code === 'invalid_type' ? message : undefined) };
}

const undelivered = shortened(
  (written) => {
    if (written === usual) return { or: written };
    return limit.safeParse(written).success ? { above: written } : written;
  },
  z
    .strictObject(
      {
        above: limit.optional().describe('The most that may be undelivered, such as 5%.'),
        or: z.literal(usual).optional().describe('Or what is usual.'),
      },
      expected('expected usual, a share of at most 90%, such as 5%, or { above: 5%, or: usual }'),
    )
    .refine(({ above, or }) => above !== undefined || or !== undefined, {
      error: 'expected above, or, or both',
    })
    .transform(({ above, or }) => ({ above, usual: or === usual })),
)
  .optional()
  .describe(
    'Stop when significantly more recipients of a destination or of the run are undelivered than 5%, than `usual`, or than either: { above: 5%, or: usual }. A destination is a mail domain, or the first six characters of a number. Usual is what the canary of the run, former runs of the campaign at this destination, or the account had.',
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
    expected('expected pause or warn, which are of undelivered: usual, or { undelivered: …, silence: … }'),
  )
  .refine(({ action: _, ...watched }) => Object.values(watched).some((each) => each !== undefined), {
    error: 'expected undelivered, silence, price, rejected or unknown',
  });

const isAction = z.enum(guardActions);

export const guard = shortened(
  (written) => (isAction.safeParse(written).success ? { action: written, undelivered: usual } : written),
  limits,
)
  .optional()
  .describe(
    'When a run stops by itself while it is sent. `pause`, `warn`: by `undelivered: usual`. `dispatch.failFast` stands beside it: it goes on by its own rules.',
  );

/** Reads the guard of a run as it is stored; undefined: it has none. */
export const storedGuard = z
  .object({
    dispatch: z.object({ failFast: z.object({ first: z.number() }).optional() }).optional(),
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
