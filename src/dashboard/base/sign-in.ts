import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { z } from 'zod';
import type { SignedIn } from '../../engine/access/sessions.ts';
import { createTokenCheck, openTokenLink } from '../../engine/access/tokens.ts';
import type { EngineContext } from '../../engine/context.ts';
import { listTokens, tokenStateOf } from '../../ledger/tokens/tokens.ts';
import type { Logger } from '../../platform/logger.ts';
import { html, type Part } from '../../report/html/html.ts';
import type { SignInEvent } from '../../server/metrics.ts';
import { addressOf, createRefusalCount, maxAddresses } from '../../server/refusal-count.ts';
import { warnOnceAMinute } from '../../server/warn-once-a-minute.ts';
import { ownPath } from '../paths.ts';
import { requireForm } from './actions.ts';
import { type AcceptPerson, addCompanySignIn } from './company-sign-in.ts';
import { cameFromElsewhere, type Guards } from './guards.ts';
import type { PageContent } from './layout.ts';
import { createOneTimeLink } from './one-time-link.ts';
import { sendPage } from './pages.ts';
import { endSession, inTime, type ReadSession, startSession } from './session.ts';
import { companyProblem, linkPage, linkProblem, signInPage, tokenPage } from './sign-in-pages.ts';
import type { DashboardOptions } from './tools.ts';
import { zonesOf } from './zone.ts';

type SignIn = Pick<DashboardOptions, 'ownName' | 'link' | 'company'> & {
  readonly context: EngineContext;
  readonly guards: Guards;
  readonly readSession: ReadSession;
  readonly noteSignIn: ReturnType<typeof createNoteSignIn>;
};

/** Links from another name of this machine to the own one; the oldest makes room. */
const maxLinks = 20;

const form = z.object({ token: z.string().trim().max(200), to: z.string().optional() }).catch({ token: '' });

/** Paths that need no session. The guards of origin and host hold for them too. */
export async function addSignIn(server: FastifyInstance, tools: SignIn): Promise<void> {
  const { context, guards, ownName, readSession, link, noteSignIn, company } = tools;
  const page = (to: string, problem?: Part) => signInPage(to, problem, company?.publicUrl);
  const links = link ? [link] : [];
  const check = createTokenCheck(context);
  const { refuse, refuseToken } = await createRefusals(server, tools, page);
  server.get<{ Querystring: { to?: unknown } }>('/sign-in', async ({ query }, reply) =>
    sendPage(reply, undefined, 200, page(ownPath(query.to))),
  );
  server.post('/sign-in', async (request, reply) => {
    const { token: given, to } = form.parse(request.body);
    const checked = await inTime(check(given));
    if (checked.kind === 'valid' && !guards.keepsSessions(request)) {
      const own = createOneTimeLink(context, checked.token.name);
      links.splice(0, links.length - maxLinks + 1);
      links.push(own);
      const [port = ''] = /:\d+$/.exec(request.headers.host ?? '') ?? [];
      const query = new URLSearchParams({ to: ownPath(to) });
      return sendRefresh(reply, `http://${ownName}${port}${own.path}?${query.toString()}`);
    }
    if (checked.kind === 'valid') {
      await signIn(tools, reply, { token: checked.token.name });
      return reply.redirect(ownPath(to), 303);
    }
    const problem =
      checked.kind === 'unknown'
        ? 'There is no such token. Copy it whole: it begins with volley_.'
        : `The token "${checked.token.name}" is ${checked.kind}. Ask an administrator for another.`;
    return refuseToken(reply, checked, problem, ownPath(to));
  });
  addTokenLink(server, tools, refuseToken);
  // A HEAD would use the link up.
  const once = { exposeHeadRoute: false };
  type Link = { Params: { secret: string }; Querystring: { to?: unknown } };
  server.get<Link>('/sign-in/:secret', once, async (request, reply) => {
    const to = ownPath(request.query.to);
    const { secret } = request.params;
    const token = guards.keepsSessions(request)
      ? links.map((each) => each.use(secret)).find((name) => name !== undefined)
      : undefined;
    if (token === undefined) {
      // Asked again from our own page, the browser sends its cookie along.
      if (cameFromElsewhere(request)) return sendRefresh(reply, request.url);
      const view = await readSession(request);
      if (links.some((each) => each.token === view?.session.name)) return sendRefresh(reply, to);
      return sendPage(reply, undefined, 403, page('/', badLink));
    }
    await signIn(tools, reply, { token });
    return sendRefresh(reply, to);
  });
  // The company's provider checks the person, so no token is tried.
  if (company) addCompanySignIn(server, { company, refuse, accept: createAccept(tools, refuse) });
  server.post('/sign-out', async (request, reply) => {
    const view = await readSession(request);
    if (view) {
      requireForm(request, view);
      const ofCompany = await endSession(view, reply, guards);
      noteSignIn('signed out', request, { token: view.session.name });
      // Chromium takes a redirect to another site for the address of the form, which the policy forbids.
      const onwards = ofCompany ? await company?.provider.findSignOut().catch(() => undefined) : undefined;
      if (onwards !== undefined) return sendRefresh(reply, onwards);
    }
    return reply.redirect('/sign-in', 303);
  });
}

async function signIn({ context, guards, noteSignIn }: SignIn, reply: FastifyReply, signedIn: SignedIn) {
  await startSession(context, reply, signedIn, guards);
  noteSignIn('signed in', reply.request, { token: signedIn.token });
}

/** `refuseToken` is for what an address could try many times. */
async function createRefusals(
  server: FastifyInstance,
  { noteSignIn }: SignIn,
  page: (to: string, problem: Part) => PageContent,
): Promise<Readonly<Record<'refuse' | 'refuseToken', RefuseSignIn>>> {
  const countRefusal = await createRefusalCount(server);
  const note = (event: SignInEvent, { request }: FastifyReply, { kind: why, token }: Refused) =>
    noteSignIn(event, request, { why, ...(token && { token: token.name }) });
  const refuse: RefuseSignIn = async (reply, refused, problem, to = '/') => {
    note('refused', reply, refused);
    return sendPage(reply, undefined, 422, page(to, problem));
  };
  const refuseToken: RefuseSignIn = async (reply, refused, problem, to = '/') => {
    const seconds = await countRefusal(reply.request);
    if (seconds === undefined) return refuse(reply, refused, problem, to);
    note('throttled', reply, refused);
    reply.header('retry-after', String(seconds));
    const wait = `There were too many wrong tokens. Wait ${seconds} seconds, then try again.`;
    return sendPage(reply, undefined, 429, page(to, wait));
  };
  return { refuse, refuseToken };
}

function createAccept(tools: SignIn, refuse: RefuseSignIn): AcceptPerson {
  const { context } = tools;
  return async (reply, signedIn, to) => {
    const token = (await inTime(listTokens(context.ledger.pool))).find(({ name }) => name === signedIn.token);
    const state = token ? tokenStateOf(token, context.now()) : 'missing';
    if (state !== 'valid')
      return refuse(reply, { kind: `token ${state}`, token }, companyProblem(signedIn, state));
    await signIn(tools, reply, signedIn);
    return sendRefresh(reply, to);
  };
}

type Refused = { readonly kind: string; readonly token?: { readonly name: string } | undefined };

/** Refuses to sign a person in, and shows the form with the problem. */
type RefuseSignIn = (
  reply: FastifyReply,
  refused: Refused,
  problem: Part,
  to?: string,
) => Promise<FastifyReply>;

const linkForm = z
  .object({ link: z.string().trim().max(500), use: z.literal('true').optional() })
  .catch({ link: '' });

/**
 * A person gets their token by a link. Programs that look at the links of an e-mail press no button, so they do not
 * use it up.
 */
function addTokenLink(
  server: FastifyInstance,
  { context, guards, noteSignIn }: SignIn,
  refuse: RefuseSignIn,
): void {
  server.post('/sign-in/link', async (request, reply) => {
    const { link: given, use } = linkForm.parse(request.body);
    const secret = given.replace(/^.*#/s, '');
    const link = await inTime(openTokenLink(context, secret, use !== undefined));
    const zone = zonesOf(request).zone;
    if (link?.state !== 'link open') {
      const refused = { kind: link ? `link ${link.state}` : 'unknown link', token: link?.token };
      return refuse(reply, refused, linkProblem(link, zone));
    }
    const { token, text } = link;
    if (text === undefined) return sendPage(reply, undefined, 200, linkPage(token, secret, zone));
    if (guards.keepsSessions(request)) await startSession(context, reply, { token: token.name }, guards);
    noteSignIn('signed in', request, { token: token.name });
    return sendPage(reply, undefined, 200, tokenPage(token, text));
  });
}

const badLink =
  'The link was used before, is too old, or was not copied whole. Copy all of it, start volley dashboard again, or sign in with a token.';

/** Goes to a page from one of our own, because a browser sends no strict cookie along with a link of another site. */
export function sendRefresh(reply: FastifyReply, to: string): FastifyReply {
  const page = html`<!doctype html><html lang="en"><head><meta charset="utf-8"><title>Volley</title><meta http-equiv="refresh" content="0; url=${to}"></head><body><p><a href="${to}">Go on</a></p></body></html>`;
  return reply.type('text/html; charset=utf-8').send(page.text);
}

/**
 * Counts and logs each event, but logs refusals of an address once a minute: with fields that have names of tokens, and
 * nothing that a person typed.
 */
export function createNoteSignIn(logger: Logger, count: (event: SignInEvent) => void = () => undefined) {
  const warn = warnOnceAMinute(logger, maxAddresses);
  return (event: SignInEvent, request: FastifyRequest, fields: Readonly<Record<string, string>>): void => {
    const address = addressOf(request);
    count(event);
    const line = { event, address, ...fields };
    if (event === 'refused' || event === 'throttled')
      warn(`${event} ${address}`, line, `sign-in to the dashboard ${event}`);
    else logger.info(line, `a person ${event}`);
  };
}
