import { promisify } from 'node:util';
import { gzip } from 'node:zlib';
import type { FastifyInstance, FastifyReply } from 'fastify';
import type { TokenScope } from '../../domain/access.ts';
import type { ReportLimit } from '../../server/api/call-limits.ts';
import { type HttpFormat, httpFormats } from '../../server/api/send-report.ts';
import type { Assets } from './assets.ts';
import { wordIn } from './fields.ts';
import { keepChoice, takeNotice } from './kept-texts.ts';
import { formatPage, type PageContent } from './layout.ts';
import { type Asked, askedOf, notFound, requireScope, type View, viewOf } from './view.ts';

const pack = promisify(gzip);

declare module 'fastify' {
  interface FastifyInstance {
    readonly assets: Assets;
  }
}

/** Who may open which path. */
export type Where = {
  readonly path: string;
  /** Needed by the person's token. */
  readonly scope: TokenScope;
};

/** @param answer may throw InputError and ProblemError, which become pages */
export function addPage(
  server: FastifyInstance,
  { path, scope }: Where,
  answer: (view: View, asked: Asked) => Promise<PageContent>,
): void {
  server.get(path, async (request, reply) => {
    const view = viewOf(request);
    requireScope(view, scope);
    return sendPage(reply, view, 200, await answer(view, askedOf(request)));
  });
}

/** @param view the person's; undefined before the person has signed in */
export async function sendPage(
  reply: FastifyReply,
  view: View | undefined,
  status: number,
  content: PageContent,
): Promise<FastifyReply> {
  const notice = takeNotice(reply);
  const { assets } = reply.server;
  const hasCells = reply.server.hasRoute({ method: 'GET', url: '/cells' });
  const page = formatPage(content, { view, assets, notice, hasCells });
  if (content.cookie) keepChoice(reply, content.cookie);
  if (content.policy !== undefined) reply.header('content-security-policy', content.policy);
  reply.code(status).type('text/html; charset=utf-8').header('vary', 'accept-encoding');
  if (!/\bgzip\b/.test(reply.request.headers['accept-encoding'] ?? '')) return reply.send(page);
  return reply.header('content-encoding', 'gzip').send(await pack(page));
}

/** A file that is sent while it is read. Few are sent at once. */
type Download = { readonly limit: ReportLimit; readonly send: (reply: FastifyReply) => Promise<void> };

/** @param open finds what the person asks for in this format; undefined: there is none */
export function addDownload(
  server: FastifyInstance,
  { path, scope }: Where,
  open: (view: View, asked: Asked, format: HttpFormat) => Promise<Download | undefined>,
): void {
  server.get(path, async (request, reply) => {
    const view = viewOf(request);
    requireScope(view, scope);
    const asked = askedOf(request);
    const format = wordIn(asked.query, 'format', httpFormats);
    const download = format && (await open(view, asked, format));
    if (!download) return notFound('There is no such download. Its page offers those that there are.');
    await download.limit(reply, view.session.name, () => download.send(reply));
    return reply;
  });
}
