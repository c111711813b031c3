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
import { plainText, runId } from '../../report/questions.ts';
import { noSuchRun } from './call.ts';
import { problem } from './schemas.ts';

export type Routes = FastifyInstance<
  RawServerDefault,
  RawRequestDefaultExpression,
  RawReplyDefaultExpression,
  FastifyBaseLogger,
  ZodTypeProvider
>;

export const runParameters = z.object({ run: runId });

/** Refuses parameters, because the caller means something by them. */
export const noParameters = z.strictObject({});

export const reason = plainText(500).trim().min(1).describe('The reason, for the audit trail.');

export const reasonIfAny = z.strictObject({ reason: reason.optional() });

export function answer<Schema extends z.ZodType>(description: string, schema: Schema) {
  return { description, content: { 'application/json': { schema } } };
}

export const statusDescriptions: Readonly<Record<number, string>> = {
  400: 'The call does not match this document.',
  401: 'The call has no valid token.',
  403: "The token's scope is too small, or the token is for some accounts only.",
  404: `${noSuchRun}.`,
  406: 'The report has no such format.',
  409: 'The state of the run, or of another call, does not allow it now.',
  413: 'The body is larger than 64 KiB.',
  415: 'The body is not application/json.',
  422: 'The input has mistakes; each is listed.',
  429: 'Too many calls without a valid token.',
  500: 'An internal error; the log has more under `call`.',
  503: 'The database cannot be reached, or too many calls are open. Try again.',
};

/** The tokens that may call an operation, and the statuses of its refusals besides those of every operation. */
type Access = {
  readonly scope: TokenScope;
  /** Tokens for some accounts are refused. */
  readonly allAccounts?: boolean;
  readonly refusals?: readonly (404 | 406 | 409 | 413 | 415 | 422)[];
};

/** What a route says of an operation: its access, and its schema with all problems that it answers. */
export function operation<Schema extends { readonly response: object }>(
  { scope, allAccounts = false, refusals = [] }: Access,
  schema: Schema,
) {
  const problems = Object.fromEntries(
    [400, 401, 403, ...refusals, 429, 500, 503].map((status) => [
      status,
      {
        description: statusDescriptions[status],
        content: { 'application/problem+json': { schema: problem } },
      },
    ]),
  );
  const response: Schema['response'] = { ...schema.response, ...problems };
  return {
    config: { scope, allAccounts },
    schema: { security: [{ token: [scope] }], ...schema, response },
  };
}
