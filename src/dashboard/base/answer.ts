import { promisify } from 'node:util';
import { gzip } from 'node:zlib';
import type { FastifyReply } from 'fastify';
import type { Assets } from './assets.ts';
import { formatPage, type PageContent } from './layout.ts';
import { takeNotice } from './notice.ts';
import type { View } from './view.ts';

const pack = promisify(gzip);

declare module 'fastify' {
  interface FastifyInstance {
    readonly assets: Assets;
  }
}

/** @param view undefined for a person who has not signed in */
export async function sendPage(
  reply: FastifyReply,
  view: View | undefined,
  status: number,
  content: PageContent,
): Promise<FastifyReply> {
  const notice = takeNotice(reply);
  const page = formatPage(content, { view, assets: reply.server.assets, notice });
  reply.code(status).type('text/html; charset=utf-8').header('vary', 'accept-encoding');
  if (!/\bgzip\b/.test(reply.request.headers['accept-encoding'] ?? '')) return reply.send(page);
  return reply.header('content-encoding', 'gzip').send(await pack(page));
}
