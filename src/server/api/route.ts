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

/** A server whose routes are checked, written and described by zod's schemas. */
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

/** Where a route takes none: what stands there all the same was meant for something, and is not passed over. */
export const noParameters = z.strictObject({});

/**
 * A text of the caller's, as the ledger takes it: without NUL or half a character, and without what a terminal would obey.
 *
 * @param maxLength characters
 */
export function plainText(maxLength: number) {
  return z
    .string()
    .max(maxLength)
    .refine((text) => text.isWellFormed() && !/(?![\n\t])\p{Cc}/u.test(text), {
      error: 'expected a text of Unicode without control characters',
    });
}

/** How a route answers when all is well. */
export function answer<Schema extends z.ZodType>(description: string, schema: Schema) {
  return { description, content: { 'application/json': { schema } } };
}

const statusDescriptions: Readonly<Record<number, string>> = {
  400: 'The call is not what this document says.',
  401: 'There is no valid token with it.',
  403: "The token's scope is too small, or the token is for some accounts only.",
  404: 'There is no such run.',
  406: 'The report has no such form.',
  409: 'Right in itself, and not now.',
  413: 'The body is larger than 64 KiB.',
  415: 'The body is no application/json.',
  422: 'What is named or written is wrong; each mistake is told.',
  429: 'Too many calls without a valid token.',
  500: 'Something failed here; the log has more of it under `call`.',
  503: 'The database is away, or too much is under way; try again.',
};

/** As `scoped`, for what concerns all accounts: a token for some of them is refused. */
export function scopedToAllAccounts(scope: TokenScope): ReturnType<typeof scoped> {
  const beside = scoped(scope);
  return { ...beside, config: { ...beside.config, allAccounts: true } };
}

/**
 * What stands beside the schemas of every route: which scope it needs, and how it says what is wrong.
 *
 * @param others than 400, 401, 403, 429, 500 and 503
 */
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
