import type { FastifyRequest } from 'fastify';
import { z } from 'zod';
import type { TokenScope } from '../../domain/access.ts';
import { allows } from '../../engine/access/tokens.ts';
import type { EngineContext } from '../../engine/context.ts';
import type { Run } from '../../ledger/runs/find.ts';
import type { Token } from '../../ledger/tokens/tokens.ts';
import { findVisibleRun, noSuchRun } from '../../server/api/call.ts';
import { ProblemError } from '../../server/api/problem.ts';

/** What a part of a page depends on, besides its data. */
export type Viewer = {
  readonly zone: string;
  readonly mayRun: boolean;
  readonly mayApprove: boolean;
  readonly mayAdmin: boolean;
};

/** The person who looks at a page. */
export type View = Viewer & {
  readonly session: Pick<Token, 'name' | 'owner' | 'scope' | 'accounts'>;
  /** The key of the session in lists. */
  readonly sessionKey: string;
  /** Its actor is the person. */
  readonly context: EngineContext;
  readonly now: Date;
  /** The zone that the person goes back to from UTC. */
  readonly ownZone: string;
  /** Whether this browser has said its zone, or the person theirs. */
  readonly isZoneKnown: boolean;
  /** The address of this page, with its query. */
  readonly address: string;
  /** Makes the token for a form of this page. */
  readonly csrfToken: () => string;
  readonly isCsrfToken: (given: string) => boolean;
  /** What pages have kept in this browser. */
  readonly cookies: Readonly<Record<string, string | undefined>>;
  /** Aborts when the browser has gone, or has the answer. */
  readonly left: AbortSignal;
};

/** The zones of a view. */
export type ZoneOfView = Pick<View, 'zone' | 'ownZone' | 'isZoneKnown'>;

/** The view of a session; the scope of its token decides what it may do. */
export function createView(
  context: EngineContext,
  token: Token,
  rest: Pick<View, 'sessionKey' | 'address' | 'csrfToken' | 'isCsrfToken' | 'cookies' | 'left'> & ZoneOfView,
): View {
  const { name, owner, scope, accounts } = token;
  return {
    ...rest,
    session: { name, owner, scope, accounts },
    context: { ...context, actor: { name: owner, via: 'dashboard', token: name } },
    now: context.now(),
    mayRun: allows(scope, 'run'),
    mayApprove: allows(scope, 'approve'),
    mayAdmin: allows(scope, 'admin'),
  };
}

const views = new WeakMap<FastifyRequest['raw'], View>();

/** Keeps the view for the handlers of the request. */
export function keepView(request: FastifyRequest, view: View): void {
  views.set(request.raw, view);
}

/** @returns undefined when no person is signed in */
export function findView({ raw }: Pick<FastifyRequest, 'raw'>): View | undefined {
  return views.get(raw);
}

/** The view of a request that has passed the session check. */
export function viewOf(request: Pick<FastifyRequest, 'raw'>): View {
  const view = findView(request);
  if (!view) throw new Error('no person is signed in');
  return view;
}

/** @throws ProblemError when the scope of the session is too small */
export function requireScope({ session }: View, needed: TokenScope): void {
  if (allows(session.scope, needed)) return;
  const what = `Your token's scope is "${session.scope}", and this needs "${needed}". Sign in with another token.`;
  throw new ProblemError(403, 'scope', what);
}

/** @throws ProblemError for a token for some accounts: the page concerns all of them */
export function requireAllAccounts({ session }: View): void {
  if (session.accounts === null) return;
  const what =
    'Your token is for some accounts only, and this concerns all of them. Sign in with another token.';
  throw new ProblemError(403, 'scope', what);
}

const texts = z.record(z.string(), z.string()).catch({});
const fields = z.record(z.string(), z.union([z.string(), z.array(z.string())])).catch({});

/** What is asked of a page: the parts of its path, and its query. */
export type Asked = {
  readonly params: Readonly<Record<string, string>>;
  readonly query: Readonly<Record<string, string | readonly string[]>>;
};

/** What the request asks; nothing where Fastify reads something else than texts. */
export function askedOf({ params, query }: Pick<FastifyRequest, 'params' | 'query'>): Asked {
  return { params: texts.parse(params), query: fields.parse(query) };
}

/** @throws ProblemError always: its page says what there is not */
export function notFound(what: string): never {
  throw new ProblemError(404, 'not found', what);
}

/**
 * The run in the path.
 *
 * @throws ProblemError for an unknown run, or a run of another account
 */
export async function requireVisibleRun({ context, session }: View, { params }: Asked): Promise<Run> {
  const found = await findVisibleRun({ context, token: session }, params['run'] ?? '');
  return found ?? notFound(`${noSuchRun}. The page of runs lists all.`);
}
