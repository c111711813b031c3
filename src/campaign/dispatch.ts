import { z } from 'zod';
import { priorities } from '../domain/runs.ts';
import { duration, percentage, wholeNumber } from '../platform/scalars.ts';

const failFast = z
  .strictObject({
    first: wholeNumber(1, 1000, 20).describe(
      'So many requests are sent first, and waited for, before any other: when the service rejects all of them, the run pauses. A run that is resumed counts from there.',
    ),
    share: percentage
      .optional()
      .describe(
        'From then on, the run pauses when more than this share of the answered requests is rejected, such as 5%.',
      ),
  })
  .optional()
  .describe('When to stop by itself because the service rejects what it is sent; the run can be resumed.');

const repeat = z
  .union([z.literal('allow'), duration], { error: 'expected allow, or a duration such as 12h' })
  .prefault('12h')
  .describe(
    'For so long after a run that sent anything, a run of the same campaign with the same contacts and the same message is refused, as one started by mistake; `allow` never does. `volley run --again` makes an exception. Times of a `schedule` and calls of the API, which have an Idempotency-Key, are no repetition.',
  );

/** A campaign's `dispatch`: how its requests are sent, and what becomes of those that go wrong. */
export const dispatch = z
  .strictObject({
    chunkSize: wholeNumber(1, 10_000, 200).describe('Most recipients in one request.'),
    concurrency: wholeNumber(1, 256, 8).describe('Most requests in flight at once.'),
    priority: z
      .enum(priorities)
      .default('normal')
      .describe(
        'Which runs go first. While a more urgent run of the same account has something to send, the others wait: they finish what is on its way, and go on when it is done.',
      ),
    retries: wholeNumber(0, 20, 5).describe(
      'Most repeats of a request that provably never reached the service, or that it asked to repeat, while the service answers others.',
    ),
    giveUpAfter: duration
      .prefault('1h')
      .describe(
        'How long the run waits while the service refuses every request of the account (503, 429, no connection). One request tries it now and then, and retries are not spent. After that time the run pauses; it can be resumed. `0s`: the run does not wait, and requests fail when their retries are spent.',
      ),
    onUnknown: z
      .enum(['hold', 'resend'])
      .default('hold')
      .describe(
        'What becomes of a request of which nobody knows whether the service took it (in_doubt): held for a delivery report, a status look-up or an operator, so that nothing is sent twice; or sent again with the same MessageID once all others are done, so that nothing is missed and some may get it twice.',
      ),
    resends: wholeNumber(1, 10, 3).describe('With `onUnknown: resend`, how often a request is sent again.'),
    onRejected: z
      .enum(['keep', 'bisect'])
      .default('keep')
      .describe(
        'What becomes of a request of several recipients that the service rejects: kept as rejected, or divided into halves with MessageIDs of their own, again and again, until the recipients that are to blame are alone.',
      ),
    failFast,
    repeat,
  })
  .prefault({})
  .describe('How fast, and in which portions, the requests are sent.');
