import type { FastifyInstance } from 'fastify';
import type { TokenScope } from '../../domain/access.ts';
import { sendPage } from './answer.ts';
import type { PageContent } from './layout.ts';
import { type Asked, askedOf, requireScope, type View, viewOf } from './view.ts';

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
