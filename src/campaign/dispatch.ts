import { z } from 'zod';
import { priorities } from '../domain/runs.ts';
import { duration, percentage, wholeNumber } from '../platform/scalars.ts';

/** What becomes of requests in doubt. */
export const doubtPolicies = ['hold', 'resend'] as const;

/** What becomes of rejected requests with several recipients. */
export const rejectionPolicies = ['keep', 'bisect'] as const;

/** How many requests of a run are sent before an answer shows that its address is right, unless `failFast` says it. */
export const firstByDefault = 20;

const failFast = z
  .strictObject({
    first: wholeNumber(1, 1000, firstByDefault).describe(
      'Volley sends this many requests first and waits for their outcomes. If the service rejects all of them, or what answers is not the interface of the account, the run pauses. A resumed run starts this count again.',
    ),
    share: percentage
      .optional()
      .describe(
        'After that, the run pauses when the service rejects more than this share of the answered requests, such as 5%.',
      ),
  })
  .optional()
  .describe(
    `When to pause the run because the service rejects its requests. You can resume it. Without \`failFast\`, a run still pauses when what answers its first ${firstByDefault} requests is not the interface of the account.`,
  );

const repeat = z
  .union([z.literal('allow'), duration], { error: 'expected allow, or a duration such as 12h' })
  .prefault('12h')
  .describe(
    'How long Volley refuses a repetition: a run of the same campaign with the same contacts and message as an earlier run that sent anything. `allow` never refuses one. `volley run --again` makes an exception. Times of a `schedule` and API calls are not repetitions.',
  );

export const dispatch = z
  .strictObject({
    chunkSize: wholeNumber(1, 10_000, 200).describe('Most recipients in one request.'),
    concurrency: wholeNumber(1, 256, 8).describe('Most requests in flight at once.'),
    priority: z
      .enum(priorities)
      .default('normal')
      .describe(
        'Which runs of an account go first. While a more urgent one has requests to send, others finish their requests in flight and wait.',
      ),
    retries: wholeNumber(0, 20, 5).describe(
      'Most retries of a request that provably never reached the service, or that the service asked to repeat, while it answers others.',
    ),
    giveUpAfter: duration
      .prefault('1h')
      .describe(
        'How long the run waits while the service refuses every request of the account (503, 429, no connection). After that time it pauses; you can resume it. `0s`: it does not wait, and requests fail when their retries are used up.',
      ),
    onUnknown: z
      .enum(doubtPolicies)
      .default('hold')
      .describe(
        'What to do with a request in doubt, which the service may or may not have accepted. `hold`: wait for a delivery report, a status look-up or an operator, so that nothing is sent twice. `resend`: send it again with the same MessageID after all other requests, so that nothing is missed, but a recipient can get it twice.',
      ),
    resends: wholeNumber(1, 10, 3).describe(
      'With `onUnknown: resend`, how many times a request is sent again.',
    ),
    onRejected: z
      .enum(rejectionPolicies)
      .default('keep')
      .describe(
        'What to do with a rejected request of several recipients. `bisect`: divide it into halves with MessageIDs of their own, until the recipients that cause the rejection are alone.',
      ),
    failFast,
    repeat,
  })
  .prefault({})
  .describe('How fast, and in what portions, Volley sends the requests.');
