import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { z } from 'zod';
import { personOf, tokenOf } from '../../engine/access/company-sign-in.ts';
import { parseJson } from '../../platform/parse-json.ts';
import { html, type Part } from '../../report/html/html.ts';
import { companyPath, ownPath } from '../paths.ts';
import type { Company } from './company-provider.ts';

type CompanyTools = {
  readonly company: Company;
  readonly refuse: (
    reply: FastifyReply,
    refused: { readonly kind: string },
    problem: Part,
  ) => Promise<FastifyReply>;
  readonly accept: AcceptPerson;
};

/** Signs a person in with a token. @param to where the person goes then */
export type AcceptPerson = (
  reply: FastifyReply,
  signedIn: { readonly token: string; readonly person: string },
  to: string,
) => Promise<FastifyReply>;

const begunForm = z.object({ verifier: z.string(), state: z.string(), nonce: z.string(), to: z.string() });
type Begun = z.infer<typeof begunForm>;

const cookie = 'volley_company';
/** A strict cookie would not come back with the redirect of the provider. */
const cookieOptions = { path: companyPath, httpOnly: true, sameSite: 'lax' } as const;
/** Seconds. */
const maxTime = 600;

export function addCompanySignIn(server: FastifyInstance, { company, refuse, accept }: CompanyTools): void {
  const secure = company.publicUrl.startsWith('https:');
  // A HEAD is no person.
  const pages = { exposeHeadRoute: false };
  server.get<{ Querystring: { to?: unknown } }>(companyPath, pages, async ({ query }, reply) => {
    const started = await orFailure(company.provider.begin());
    if (started.failed) return refuse(reply, started.failed, started.failed.problem);
    const { address, begun } = started.result;
    const value = Buffer.from(JSON.stringify({ ...begun, to: ownPath(query.to) })).toString('base64url');
    reply.setCookie(cookie, value, { ...cookieOptions, secure, maxAge: maxTime });
    return reply.redirect(address, 303);
  });
  server.get(`${companyPath}/return`, pages, async (request, reply) => {
    const begun = begunIn(request);
    reply.clearCookie(cookie, { ...cookieOptions, secure });
    if (!begun) return refuse(reply, { kind: 'not begun' }, notBegun);
    const { search } = new URL(request.url, company.publicUrl);
    const answer = await orFailure(company.provider.finish(search, begun));
    if (answer.failed) return refuse(reply, answer.failed, answer.failed.problem);
    const [person, token] = [personOf(company, answer.result), tokenOf(company, answer.result)];
    if (person === undefined) {
      const problem = html`The identity provider does not say your name (${company.user}), or has not verified it. Ask an administrator.`;
      return refuse(reply, { kind: 'no name' }, problem);
    }
    if (token === undefined) {
      const problem = html`You are <bdi>${person}</bdi>, and no token of Volley is for you. Ask an administrator.`;
      return refuse(reply, { kind: 'no token' }, problem);
    }
    return accept(reply, { token, person }, ownPath(begun.to));
  });
}

function begunIn({ cookies }: FastifyRequest): Begun | undefined {
  const text = Buffer.from(cookies[cookie] ?? '', 'base64url').toString();
  return begunForm.safeParse(parseJson(text)).data;
}

const notBegun = 'It took longer than ten minutes, or was begun in another browser. Begin again.';

type Failed = { readonly kind: string; readonly problem: Part };

/** The result, or why the provider gives none: `kind` for the log, `problem` for the person. */
async function orFailure<Result>(
  work: Promise<Result>,
): Promise<{ readonly failed: Failed } | { readonly failed?: undefined; readonly result: Result }> {
  try {
    return { result: await work };
  } catch (error) {
    const refusal = refusalOf(error);
    const problem =
      refusal === undefined
        ? 'The identity provider does not answer as it should. Try again, or use your token.'
        : html`The identity provider signed you in nowhere: <bdi>${refusal}</bdi>. Begin again, or use your token.`;
    return { failed: { kind: `provider: ${refusal ?? codeOf(error)}`, problem } };
  }
}

/** The provider's own refusal, such as `access_denied`; undefined for other failures. */
function refusalOf(error: unknown): string | undefined {
  const refused = z.object({ code: z.literal('OAUTH_AUTHORIZATION_RESPONSE_ERROR'), error: z.string() });
  return refused.safeParse(error).data?.error;
}

function codeOf(error: unknown): string {
  return z.object({ code: z.string() }).safeParse(error).data?.code ?? 'no answer';
}
