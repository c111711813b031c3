import { Tokens } from '@fastify/csrf';
import type { FastifyReply, FastifyRequest } from 'fastify';
import {
  closeSession,
  createSessionCheck,
  openSession,
  type SignedIn,
  sessionKey,
  sessionMaxAge,
} from '../../engine/access/sessions.ts';
import type { EngineContext } from '../../engine/context.ts';
import { ProblemError } from '../../server/api/problem.ts';
import { withTimeout } from '../../server/shared-answer.ts';
import type { Guards } from './guards.ts';
import { createView, keepView, type View } from './view.ts';
import { zonesOf } from './zone.ts';

const csrf = new Tokens({ saltLength: 16 });

/** Each process has a name of its own, because cookies do not know ports: two Volleys on one machine have two sessions. */
function cookieName(request: FastifyRequest, { isSecure }: Guards): string {
  return isSecure(request) ? '__Host-volley_session' : `volley_session_${request.socket.localPort ?? 0}`;
}

const sessions = new WeakMap<FastifyRequest['raw'], string>();

/** The id of a session that was read. */
export function sessionOf({ raw }: Pick<FastifyRequest, 'raw'>): string {
  const id = sessions.get(raw);
  if (id === undefined) throw new Error('the session was not read');
  return id;
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

/** Reads the session that the cookie of a request names. */
export function createSessionReader(context: EngineContext, guards: Guards): ReadSession {
  const check = createSessionCheck(context);
  return async (request) => {
    const id = guards.keepsSessions(request) ? request.cookies[cookieName(request, guards)] : undefined;
    const token = id === undefined ? undefined : await inTime(check(id));
    if (id === undefined || !token) return undefined;
    sessions.set(request.raw, id);
    const view = createView(context, token, {
      sessionKey: sessionKey(id),
      ...zonesOf(request),
      address: request.url,
      cookies: request.cookies,
      left: request.signal,
      csrfToken: () => csrf.create(id),
      isCsrfToken: (given) => csrf.verify(id, given),
    });
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
  reply.setCookie(name, id, {
    path: '/',
    httpOnly: true,
    sameSite: 'strict',
    secure: guards.isSecure(reply.request),
    maxAge: sessionMaxAge / 1_000,
  });
}

/** Ends the session of this browser. @returns whether its person signed in with the company's identity provider */
export async function endSession(
  context: EngineContext,
  reply: FastifyReply,
  guards: Guards,
): Promise<boolean> {
  const ofCompany = await inTime(closeSession(context, sessionOf(reply.request)));
  reply.clearCookie(cookieName(reply.request, guards), {
    path: '/',
    httpOnly: true,
    sameSite: 'strict',
    secure: guards.isSecure(reply.request),
  });
  return ofCompany;
}
