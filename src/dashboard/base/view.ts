import type { FastifyRequest } from 'fastify';
import { z } from 'zod';
import type { TokenScope } from '../../domain/access.ts';
import { allows } from '../../engine/access/tokens.ts';
import type { EngineContext } from '../../engine/context.ts';
import type { Run } from '../../ledger/runs/find.ts';
import type { Token } from '../../ledger/tokens/tokens.ts';
import { findVisibleRun, noSuchRun } from '../../server/api/call.ts';
import { ProblemError } from '../../server/api/problem.ts';

export type Viewer = {
  readonly zone: string;
  readonly mayRun: boolean;
  readonly mayApprove: boolean;
  readonly mayAdmin: boolean;
};

export type View = Viewer & {
  readonly session: Pick<Token, 'name' | 'owner' | 'scope' | 'accounts'>;
  /** The id of the session, which is a secret. */
  readonly sessionId: string;
  /** Its actor is the person. */
  readonly context: EngineContext;
  readonly now: Date;
  /** The zone that the person goes back to from UTC. */
  readonly ownZone: string;
  /** Whether this browser has said its zone, or the person theirs. */
  readonly isZoneKnown: boolean;
  readonly address: string;
  /** Makes the token for a form of this page. */
  readonly csrfToken: () => string;
  readonly isCsrfToken: (given: string) => boolean;
  /** What pages have kept in this browser. */
  readonly cookies: Readonly<Record<string, string | undefined>>;
  /** Aborts when the browser has gone, or has the answer. */
  readonly left: AbortSignal;
};

export type ZoneOfView = Pick<View, 'zone' | 'ownZone' | 'isZoneKnown'>;

const views = new WeakMap<FastifyRequest['raw'], View>();

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

/** The tokens with which a page may be opened. */
export type Access = {
  readonly scope: TokenScope;
  /** Tokens for some accounts are refused. */
  readonly allAccounts?: true;
};

/** @throws ProblemError for a session with another token */
export function requireAccess({ session }: View, { scope, allAccounts }: Access): void {
  const refuse = (why: string): never => {
    throw new ProblemError(403, 'scope', `${why} Sign in with another token.`);
  };
  if (!allows(session.scope, scope))
    refuse(`Your token's scope is "${session.scope}", and this needs "${scope}".`);
  if (allAccounts && session.accounts !== null)
    refuse('Your token is for some accounts only, and this concerns all of them.');
}

const texts = z.record(z.string(), z.string()).catch({});
const fields = z.record(z.string(), z.union([z.string(), z.array(z.string())])).catch({});

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
