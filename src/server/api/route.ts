import type {
  FastifyBaseLogger,
  FastifyInstance,
  RawReplyDefaultExpression,
  RawRequestDefaultExpression,
  RawServerDefault,
} from 'fastify';
import type { ZodTypeProvider } from 'fastify-type-provider-zod';
import { z } from 'zod';
import type { TokenScope } from '../../domain/access.ts';
import { problem } from './schemas.ts';

export type Routes = FastifyInstance<
  RawServerDefault,
  RawRequestDefaultExpression,
  RawReplyDefaultExpression,
  FastifyBaseLogger,
  ZodTypeProvider
>;

export const runParameters = z.object({
  run: z
    .string()
    .regex(/^[\w-]{1,64}$/, 'expected the id of a run, such as 261121-7k2mq8vb')
    .describe("The run's id."),
});

/** Refuses parameters, because the caller means something by them. */
export const noParameters = z.strictObject({});

/** A text that is safe in Postgres and on a terminal. */
export function plainText(maxLength: number) {
  return z
    .string()
    .max(maxLength)
    .refine((text) => text.isWellFormed() && !/(?![\n\t])\p{Cc}/u.test(text), {
      error: 'expected a text of Unicode without control characters',
    });
}

export const reason = plainText(500).trim().min(1).describe('The reason, for the audit trail.');

export const reasonIfAny = z.strictObject({ reason: reason.optional() });

export function answer<Schema extends z.ZodType>(description: string, schema: Schema) {
  return { description, content: { 'application/json': { schema } } };
}

const statusDescriptions: Readonly<Record<number, string>> = {
  400: 'The call does not match this document.',
  401: 'The call has no valid token.',
  403: "The token's scope is too small, or the token is for some accounts only.",
  404: 'There is no such run.',
  406: 'The report has no such format.',
  409: 'The state of the run, or of another call, does not allow it now.',
  413: 'The body is larger than 64 KiB.',
  415: 'The body is not application/json.',
  422: 'The input has mistakes; each is listed.',
  429: 'Too many calls without a valid token.',
  500: 'An internal error; the log has more under `call`.',
  503: 'The database cannot be reached, or too many calls are open. Try again.',
};

/** Refuses tokens for some accounts. */
export function scopedToAllAccounts(scope: TokenScope): ReturnType<typeof scoped> {
  const beside = scoped(scope);
  return { ...beside, config: { ...beside.config, allAccounts: true } };
}

/** @param others statuses besides 400, 401, 403, 429, 500 and 503 */
export function scoped(scope: TokenScope, ...others: (404 | 406 | 409 | 413 | 415 | 422)[]) {
  return {
    config: { scope, allAccounts: false },
    security: [{ token: [scope] }],
    problems: Object.fromEntries(
      [400, 401, 403, ...others, 429, 500, 503].map((status) => [
        status,
        {
          description: statusDescriptions[status],
          content: { 'application/problem+json': { schema: problem } },
        },
      ]),
    ),
  };
}
