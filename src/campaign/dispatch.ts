import { z } from 'zod';
import { priorities } from '../domain/runs.ts';
import { duration, wholeNumber } from '../platform/scalars.ts';
import { failFast } from './run-guard-definition.ts';

/** What becomes of requests in doubt. */
export const doubtPolicies = ['hold', 'resend'] as const;

/** What becomes of rejected requests with several recipients. */
export const rejectionPolicies = ['keep', 'bisect'] as const;

const repeat = z
  .union([z.literal('allow'), duration], { error: 'expected allow, or a duration such as 12h' })
  .prefault('12h')
  .describe(
    'How long Volley refuses to send the same to the same contacts again; `allow`: never. `volley run --again` makes an exception.',
  );

export const dispatch = z
  .strictObject({
    chunkSize: wholeNumber(1, 10_000, 200).describe('Most recipients in one request.'),
    concurrency: wholeNumber(1, 256, 8).describe('Most requests in flight at once.'),
    priority: z
      .enum(priorities)
      .default('normal')
      .describe('Which runs of an account go first; others wait.'),
    retries: wholeNumber(0, 20, 5).describe(
      'Most retries of a request that never reached the service, or that it asked to repeat.',
    ),
    giveUpAfter: duration
      .prefault('1h')
      .describe(
        'How long the run waits while the service refuses everything (503, 429, no connection), before it pauses. `0s`: requests fail when their retries are used up.',
      ),
    onUnknown: z
      .enum(doubtPolicies)
      .default('hold')
      .describe(
        'What to do with a request in doubt. `hold`: wait for a delivery report, the look-up or an operator, so nothing is sent twice. `resend`: send it again after all others, so nothing is missed, but a recipient can get it twice.',
      ),
    resends: wholeNumber(1, 10, 3).describe('With `resend`: how often.'),
    onRejected: z
      .enum(rejectionPolicies)
      .default('keep')
      .describe(
        'What to do with a rejected request of several recipients. `bisect`: divide it until those that cause the rejection are alone.',
      ),
    failFast,
    repeat,
  })
  .prefault({})
  .describe('How fast, and in what portions, Volley sends.');
