import type { FastifyInstance, FastifyRequest } from 'fastify';
import type { Actor, TokenScope } from '../../domain/access.ts';
import { allows, createTokenCheck, type TokenCheck } from '../../engine/access/tokens.ts';
import { nameCaller } from '../arriving-bodies.ts';
import type { RefusalCount } from '../refusal-count.ts';
import { type Call, keepCall } from './call.ts';
import { ProblemError } from './problem.ts';
import { statusDescriptions } from './route.ts';

declare module 'fastify' {
  interface FastifyContextConfig {
    scope?: TokenScope;
    allAccounts?: boolean;
  }
}

/** Checks tokens before a body is read. A caller without one learns nothing, not even which routes exist. */
export function addAuthentication(
  server: FastifyInstance,
  tools: Omit<Call, 'token'>,
  countRefusal: RefusalCount,
): void {
  const check = createTokenCheck(tools.context);
  server.addHook('onRequest', async (request, reply) => {
    reply.headers({ 'cache-control': 'no-store', 'x-content-type-options': 'nosniff' });
    const given = parseBearer(request.headers.authorization);
    const checked: TokenCheck = given === undefined ? { kind: 'unknown' } : await check(given);
    if (checked.kind !== 'valid') {
      const seconds = await countRefusal(request);
      throw seconds === undefined ? tokenProblem(checked, given !== undefined) : tooManyProblem(seconds);
    }
    const { token } = checked;
    nameCaller(request, `token ${token.name}`);
    const { scope, allAccounts } = request.routeOptions.config;
    if (scope !== undefined && !allows(token.scope, scope)) throw scopeProblem(token.scope, scope);
    if (allAccounts && token.accounts !== null) {
      const what = 'The token is for some accounts only, and this call concerns all of them.';
      throw new ProblemError(403, 'scope', what);
    }
    const actor: Actor = { name: token.owner, via: 'api', token: token.name };
    keepCall(request, { ...tools, token, context: { ...tools.context, actor } });
  });
}

/** Reads a bearer token (RFC 6750). */
function parseBearer(authorization: FastifyRequest['headers']['authorization']): string | undefined {
  return /^Bearer +([\w.~+/=-]{1,200}) *$/i.exec(authorization ?? '')?.[1];
}

/** Only the owner can have an expired or revoked token. */
function tokenProblem(checked: Exclude<TokenCheck, { kind: 'valid' }>, given: boolean): ProblemError {
  const what =
    checked.kind === 'unknown'
      ? 'Expected a token: `Authorization: Bearer volley_…`. `volley token create` makes one.'
      : `The token "${checked.token.name}" is ${checked.kind}. \`volley token create\` makes another.`;
  const challenge = given ? ', error="invalid_token"' : '';
  const headers = { 'www-authenticate': `Bearer realm="volley"${challenge}` };
  return new ProblemError(401, 'token', what, { headers });
}

function scopeProblem(scope: TokenScope, needed: TokenScope): ProblemError {
  const what = `The token's scope is "${scope}", and this call needs "${needed}".`;
  const challenge = `Bearer realm="volley", error="insufficient_scope", scope="${needed}"`;
  return new ProblemError(403, 'scope', what, { headers: { 'www-authenticate': challenge } });
}

function tooManyProblem(seconds: number): ProblemError {
  const headers = { 'retry-after': String(seconds) };
  return new ProblemError(429, 'token', `${statusDescriptions[429]} Wait, then try again.`, { headers });
}
