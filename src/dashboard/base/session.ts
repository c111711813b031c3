import { Tokens } from '@fastify/csrf';
import type { FastifyReply, FastifyRequest } from 'fastify';
import {
  closeSession,
  createSessionCheck,
  openSession,
  type SignedIn,
  sessionMaxAge,
} from '../../engine/access/sessions.ts';
import { allows } from '../../engine/access/tokens.ts';
import type { EngineContext } from '../../engine/context.ts';
import { ProblemError } from '../../server/api/problem.ts';
import { withTimeout } from '../../server/shared-answer.ts';
import type { Guards } from './guards.ts';
import { keepView, type View } from './view.ts';
import { zonesOf } from './zone.ts';

const csrf = new Tokens({ saltLength: 16 });

/** Each process has a name of its own, because cookies do not know ports: two Volleys on one machine have two sessions. */
function cookieName(request: FastifyRequest, { isSecure }: Guards): string {
  return isSecure(request) ? '__Host-volley_session' : `volley_session_${request.socket.localPort ?? 0}`;
}

function cookieOf({ request }: FastifyReply, { isSecure }: Guards) {
  return { path: '/', httpOnly: true, sameSite: 'strict', secure: isSecure(request) } as const;
}

/** Milliseconds. A session is read by its key: only a database that hangs takes so long. */
const maxWait = 5_000;

/** A person who signs in or opens a page soon reads that the database hangs, such as behind a network that lost it. */
export function inTime<Result>(work: Promise<Result>): Promise<Result> {
  const what = 'The database does not answer. Try again.';
  const late = () => new ProblemError(503, 'unavailable', what, { headers: { 'retry-after': '5' } });
  return withTimeout(maxWait, work, late);
}

/** Resolves with undefined when no person is signed in. */
export type ReadSession = (request: FastifyRequest) => Promise<View | undefined>;

export function createSessionReader(context: EngineContext, guards: Guards): ReadSession {
  const check = createSessionCheck(context);
  return async (request) => {
    const id = guards.keepsSessions(request) ? request.cookies[cookieName(request, guards)] : undefined;
    const token = id === undefined ? undefined : await inTime(check(id));
    if (id === undefined || !token) return undefined;
    const { name, owner, scope, accounts } = token;
    const view: View = {
      ...zonesOf(request),
      session: { name, owner, scope, accounts },
      sessionId: id,
      context: { ...context, actor: { name: owner, via: 'dashboard', token: name } },
      now: context.now(),
      mayRun: allows(scope, 'run'),
      mayApprove: allows(scope, 'approve'),
      mayAdmin: allows(scope, 'admin'),
      address: request.url,
      cookies: request.cookies,
      left: request.signal,
      csrfToken: () => csrf.create(id),
      isCsrfToken: (given) => csrf.verify(id, given),
    };
    keepView(request, view);
    return view;
  };
}

/** Ends the former session of this browser too: the new cookie replaces its cookie, so no person could end it. */
export async function startSession(
  context: EngineContext,
  reply: FastifyReply,
  signedIn: SignedIn,
  guards: Guards,
): Promise<void> {
  const name = cookieName(reply.request, guards);
  const former = reply.request.cookies[name];
  const id = await inTime(openSession(context, signedIn));
  if (former !== undefined) await inTime(closeSession(context, former));
  reply.setCookie(name, id, { ...cookieOf(reply, guards), maxAge: sessionMaxAge / 1_000 });
}

/** Ends the session of this browser. @returns whether its person signed in with the company's identity provider */
export async function endSession(
  { context, sessionId }: View,
  reply: FastifyReply,
  guards: Guards,
): Promise<boolean> {
  const ofCompany = await inTime(closeSession(context, sessionId));
  reply.clearCookie(cookieName(reply.request, guards), cookieOf(reply, guards));
  return ofCompany;
}
