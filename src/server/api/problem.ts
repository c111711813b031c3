import { STATUS_CODES } from 'node:http';
import type { FastifyError, FastifyReply, FastifyRequest } from 'fastify';
import { hasZodFastifySchemaValidationErrors } from 'fastify-type-provider-zod';
import { EndedError, InputError, type Problem, truncateProblems } from '../../domain/problems.ts';
import { ReplicaError } from '../../domain/replica.ts';
import { NothingNewError } from '../../engine/plan/contact-patterns.ts';
import { isConnectionFailure, loggableReason } from '../../platform/database-failures.ts';
import type { Logger } from '../../platform/logger.ts';
import { asSentence } from '../../platform/sentence.ts';
import type { problemKinds } from './schemas.ts';

export type ProblemKind = (typeof problemKinds)[number];

export class ProblemError extends Error {
  override readonly name = 'ProblemError';
  readonly status: number;
  readonly kind: ProblemKind;
  readonly problems: readonly Problem[];
  readonly headers: Readonly<Record<string, string>>;

  constructor(
    status: number,
    kind: ProblemKind,
    detail: string,
    {
      problems = [],
      headers = {},
    }: { readonly problems?: readonly Problem[]; readonly headers?: Readonly<Record<string, string>> } = {},
  ) {
    super(detail);
    this.status = status;
    this.kind = kind;
    this.problems = problems;
    this.headers = headers;
  }
}

/** Answers input errors as 409: the call can be valid at another time. */
export async function asConflict<Result>(work: Promise<Result>): Promise<Result> {
  return work.catch((error: unknown) => {
    if (error instanceof InputError) throw toProblemError(409, 'conflict', error.problems);
    throw error;
  });
}

export function toProblemError(
  status: number,
  kind: ProblemKind,
  problems: readonly Problem[],
): ProblemError {
  const shown = truncateProblems(problems);
  return new ProblemError(status, kind, shown.map(({ what }) => what).join('\n'), { problems: shown });
}

/** Turns failures into answers. Internal errors are logged, and not sent. */
export function createErrorHandler(logger: Logger) {
  return (error: FastifyError, request: FastifyRequest, reply: FastifyReply): FastifyReply => {
    const problem = toProblem(error);
    if (problem.status < 500) return sendProblem(reply, problem);
    logFailure(logger, error, request, 'API call');
    return sendProblem(reply, problem, request.id);
  };
}

/** A caller who leaves before a report is whole is no failure. */
export function logFailure(
  logger: Logger,
  error: FastifyError,
  { id: call, routeOptions }: FastifyRequest,
  asked: 'API call' | 'page',
): void {
  const route = routeOptions.url;
  if (error.code === 'ERR_STREAM_PREMATURE_CLOSE') {
    logger.debug({ call, route }, 'the caller of a report disconnected');
    return;
  }
  const thrown: unknown = error;
  if (thrown instanceof ProblemError && thrown.kind === 'busy') {
    logger.warn({ call, route, reason: thrown.message }, `${asked} not answered in full`);
    return;
  }
  logger.error({ call, route, reason: loggableReason(error) }, `${asked} failed`);
  logger.debug({ call, stack: error.stack }, `stack of a failed ${asked}`);
}

export const noDatabase = 'The database cannot be reached.';

/** What a caller may know of a failure. */
export function toProblem(error: FastifyError): ProblemError {
  // Fastify passes on every thrown value, our own errors included.
  const thrown: unknown = error;
  if (thrown instanceof ProblemError) return thrown;
  if (thrown instanceof InputError) return toProblemError(422, 'input', thrown.problems);
  if (thrown instanceof NothingNewError) return new ProblemError(409, 'nothing new', thrown.message);
  if (hasZodFastifySchemaValidationErrors(error)) {
    const part = error.validationContext === 'querystring' ? 'query' : (error.validationContext ?? 'call');
    const problems = error.validation.map(({ instancePath, message = '' }) => ({
      where: `${part}${instancePath}`,
      what: asSentence(message),
    }));
    return toProblemError(400, 'input', problems);
  }
  if (isConnectionFailure(thrown)) return unavailable(`${noDatabase} Try again.`, 5);
  if (thrown instanceof ReplicaError) return unavailable(thrown.message, 60);
  if (thrown instanceof EndedError) return unavailable('The thread that plans runs has ended. Try again.', 5);
  const { statusCode = 500, code } = error;
  if (statusCode < 400 || statusCode >= 500) {
    const what = 'An internal error. The log of Volley has it under the id of this call.';
    return new ProblemError(500, 'internal', what);
  }
  return new ProblemError(statusCode, 'input', fastifyMessages[code] ?? 'The call cannot be read.');
}

/** @param seconds after which another try can succeed */
function unavailable(what: string, seconds: number): ProblemError {
  return new ProblemError(503, 'unavailable', what, { headers: { 'retry-after': String(seconds) } });
}

/** Fastify's own messages can quote the call. */
const fastifyMessages: Readonly<Record<string, string>> = {
  FST_ERR_CTP_BODY_TOO_LARGE: 'The body is too large; 64 KiB are allowed.',
  FST_ERR_CTP_INVALID_MEDIA_TYPE: 'Expected a body of Content-Type application/json.',
  FST_ERR_CTP_EMPTY_JSON_BODY: 'The body is empty; send {} or no Content-Type.',
  FST_ERR_CTP_INVALID_JSON_BODY: 'The body is not JSON.',
};

export function sendProblem(
  reply: FastifyReply,
  { status, kind, message, problems, headers }: ProblemError,
  call?: string,
): FastifyReply {
  return reply
    .code(status)
    .headers({ ...headers, 'content-type': 'application/problem+json' })
    .send({
      type: 'about:blank',
      title: STATUS_CODES[status] ?? 'Error',
      status,
      detail: message,
      kind,
      problems,
      ...(call !== undefined && { call }),
    });
}
