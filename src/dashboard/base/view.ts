import type { FastifyRequest } from 'fastify';
import { z } from 'zod';
import type { TokenScope } from '../../domain/access.ts';
import { allows, isForAccount } from '../../engine/access/tokens.ts';
import type { EngineContext } from '../../engine/context.ts';
import { findRun, type Run } from '../../ledger/runs/find.ts';
import type { Token } from '../../ledger/tokens/tokens.ts';
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
  /** Of the session in lists. */
  readonly sessionKey: string;
  /** Its actor is the person. */
  readonly context: EngineContext;
  readonly now: Date;
  /** Of this page, with its query. */
  readonly address: string;
  /** For the forms of this page. */
  readonly csrfToken: () => string;
  readonly isCsrfToken: (given: string) => boolean;
  /** Of this request: its browser has gone, or has the answer. */
  readonly left: AbortSignal;
};

/** Of a session; the scope of its token decides what it may do. */
export function createView(
  context: EngineContext,
  token: Token,
  rest: Pick<View, 'sessionKey' | 'zone' | 'address' | 'csrfToken' | 'isCsrfToken' | 'left'>,
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

export function keepView(request: FastifyRequest, view: View): void {
  views.set(request.raw, view);
}

/** @returns undefined when nobody is signed in */
export function findView({ raw }: Pick<FastifyRequest, 'raw'>): View | undefined {
  return views.get(raw);
}

export function viewOf({ raw }: Pick<FastifyRequest, 'raw'>): View {
  const view = views.get(raw);
  if (!view) throw new Error('nobody is signed in');
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

/** Parts of the path, and the query. */
export type Asked = {
  readonly params: Readonly<Record<string, string>>;
  readonly query: Readonly<Record<string, string | readonly string[]>>;
};

export function askedOf({ params, query }: Pick<FastifyRequest, 'params' | 'query'>): Asked {
  return { params: texts.parse(params), query: fields.parse(query) };
}

export function notFound(what: string): never {
  throw new ProblemError(404, 'not found', what);
}

/** @throws ProblemError for an unknown run, or a run of another account */
export async function requireVisibleRun({ context, session }: View, run: string): Promise<Run> {
  const found = await findRun(context.ledger.knex, run);
  if (found && isForAccount(session, found.account)) return found;
  return notFound('There is no such run. The page of runs lists all.');
}
