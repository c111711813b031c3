import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { z } from 'zod';
import { createTokenCheck } from '../../engine/access/tokens.ts';
import type { EngineContext } from '../../engine/context.ts';
import { html } from '../../report/html/html.ts';
import { createRefusalCount } from '../../server/refusal-count.ts';
import { requireForm } from './actions.ts';
import { sendPage } from './answer.ts';
import { cameFromElsewhere } from './guards.ts';
import { problemList } from './layout.ts';
import type { OneTimeLink } from './one-time-link.ts';
import { ownPath } from './own-path.ts';
import { endSession, inTime, readSession, startSession } from './session.ts';

type SignIn = {
  readonly context: EngineContext;
  readonly isSecure: (request: FastifyRequest) => boolean;
  readonly link: OneTimeLink | undefined;
};

const form = z.object({ token: z.string().trim().max(200), to: z.string().optional() }).catch({ token: '' });

/** Paths that need no session. The guards of origin and host hold for them too. */
export async function addSignIn(server: FastifyInstance, { context, isSecure, link }: SignIn): Promise<void> {
  const check = createTokenCheck(context);
  const countRefusal = await createRefusalCount(server);
  server.get<{ Querystring: { to?: unknown } }>('/sign-in', async ({ query }, reply) =>
    sendPage(reply, undefined, 200, signInPage(ownPath(query.to))),
  );
  server.post('/sign-in', async (request, reply) => {
    const { token: given, to } = form.parse(request.body);
    const checked = await inTime(check(given));
    if (checked.kind === 'valid') {
      await startSession(context, reply, checked.token.name, isSecure(request));
      return reply.redirect(ownPath(to), 303);
    }
    const seconds = await countRefusal(request);
    if (seconds !== undefined) reply.header('retry-after', String(seconds));
    const problem =
      seconds !== undefined
        ? `There were too many wrong tokens. Wait ${seconds} seconds, then try again.`
        : checked.kind === 'unknown'
          ? 'There is no such token. Copy it whole: it begins with volley_.'
          : `The token "${checked.token.name}" is ${checked.kind}. Make another with volley token create.`;
    return sendPage(reply, undefined, seconds === undefined ? 422 : 429, signInPage(ownPath(to), problem));
  });
  // A HEAD would use the link up.
  const once = { exposeHeadRoute: false };
  server.get<{ Params: { secret: string } }>('/sign-in/:secret', once, async (request, reply) => {
    const token = link?.use(request.params.secret);
    if (token === undefined) {
      // Asked again from our own page, the browser sends its cookie along.
      if (cameFromElsewhere(request)) return sendRefresh(reply, request.url);
      const view = await readSession(context, request, isSecure(request));
      if (view && view.session.name === link?.token) return sendRefresh(reply, '/');
      return sendPage(reply, undefined, 403, signInPage('/', badLink));
    }
    await startSession(context, reply, token, isSecure(request));
    return sendRefresh(reply, '/');
  });
  server.post('/sign-out', async (request, reply) => {
    const view = await readSession(context, request, isSecure(request));
    if (view) {
      requireForm(request, view);
      await endSession(context, reply, isSecure(request));
    }
    return reply.redirect('/sign-in', 303);
  });
}

const badLink =
  'The link was used before, is too old, or was not copied whole. Copy all of it, start volley dashboard again, or sign in with a token.';

/** Goes to a page from one of our own, because a browser sends no strict cookie along with a link of another site. */
export function sendRefresh(reply: FastifyReply, to: string): FastifyReply {
  const page = html`<!doctype html><html lang="en"><head><meta charset="utf-8"><title>Volley</title><meta http-equiv="refresh" content="0; url=${to}"></head><body><p><a href="${to}">Go on</a></p></body></html>`;
  return reply.type('text/html; charset=utf-8').send(page.text);
}

function signInPage(to: string, problem?: string) {
  return {
    title: 'Sign in',
    body: html`${problem !== undefined && problemList('You are not signed in', [problem])}
<form method="post" action="/sign-in">
<input type="hidden" name="to" value="${to}">
<div class="field">
<label for="token">Your token</label>
<span class="hint" id="token-hint">It begins with volley_. Its scope decides what you may do here. <code>volley token create</code> makes one.</span>
<input id="token" name="token" type="password" required autocomplete="off" autocapitalize="none" spellcheck="false" aria-describedby="token-hint"${problem !== undefined && html` aria-invalid="true"`}>
</div>
<p class="buttons"><button>Sign in</button></p>
</form>`,
  };
}
