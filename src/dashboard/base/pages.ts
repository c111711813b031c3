import { promisify } from 'node:util';
import { gzip } from 'node:zlib';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import type { ReportLimit } from '../../server/api/call-limits.ts';
import { type HttpFormat, httpFormats } from '../../server/api/send-report.ts';
import { wordIn } from './fields.ts';
import { keepChoice, takeNotice } from './kept-texts.ts';
import { formatPage, type PageContent } from './layout.ts';
import { type Access, type Asked, askedOf, notFound, requireAccess, type View, viewOf } from './view.ts';

const pack = promisify(gzip);

export type Where = Access & { readonly path: string };

type Download = { readonly limit: ReportLimit; readonly send: (reply: FastifyReply) => Promise<void> };

/** What a request asks, by the person who may ask it. */
export function open(request: FastifyRequest, where: Where): { readonly view: View; readonly asked: Asked } {
  const view = viewOf(request);
  requireAccess(view, where);
  return { view, asked: askedOf(request) };
}

export function createPages(server: FastifyInstance) {
  return {
    /** @param answer may throw InputError and ProblemError, which become pages */
    addPage: (where: Where, answer: (view: View, asked: Asked) => Promise<PageContent>): void => {
      server.get(where.path, async (request, reply) => {
        const { view, asked } = open(request, where);
        return sendPage(reply, view, 200, await answer(view, asked));
      });
    },
    /** Of a form with a file, or with an answer of its own: it checks the token of the form. */
    addPost: (
      where: Where,
      act: (view: View, asked: Asked, reply: FastifyReply) => Promise<FastifyReply>,
    ): void => {
      server.post(where.path, async (request, reply) => {
        const { view, asked } = open(request, where);
        return act(view, asked, reply);
      });
    },
    /** @param find what the person asks for in this format; undefined: there is none */
    addDownload: (
      where: Where,
      find: (view: View, asked: Asked, format: HttpFormat) => Promise<Download | undefined>,
    ): void => {
      server.get(where.path, async (request, reply) => {
        const { view, asked } = open(request, where);
        const format = wordIn(asked.query, 'format', httpFormats);
        const download = format && (await find(view, asked, format));
        if (!download) return notFound('There is no such download. Its page offers those that there are.');
        await download.limit(reply, view.session.name, () => download.send(reply));
        return reply;
      });
    },
  };
}

/** @param view the person's; undefined before the person has signed in */
export async function sendPage(
  reply: FastifyReply,
  view: View | undefined,
  status: number,
  content: PageContent,
): Promise<FastifyReply> {
  const notice = takeNotice(reply);
  const hasCells = reply.server.hasRoute({ method: 'GET', url: '/cells' });
  const page = formatPage(content, view, notice, hasCells);
  if (content.cookie) keepChoice(reply, content.cookie);
  if (content.policy !== undefined) reply.header('content-security-policy', content.policy);
  reply.code(status).type('text/html; charset=utf-8').header('vary', 'accept-encoding');
  if (!/\bgzip\b/.test(reply.request.headers['accept-encoding'] ?? '')) return reply.send(page);
  return reply.header('content-encoding', 'gzip').send(await pack(page));
}
