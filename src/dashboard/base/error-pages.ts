import { STATUS_CODES } from 'node:http';
import type { FastifyError, FastifyReply, FastifyRequest } from 'fastify';
import type { Logger } from '../../platform/logger.ts';
import { html } from '../../report/html/html.ts';
import { logFailure, type ProblemError, toProblem } from '../../server/api/problem.ts';
import { sendPage } from './pages.ts';
import { omitCommands } from './problems.ts';
import { findView } from './view.ts';

/** A page that says what is wrong and what to do. Internal errors are logged, and not shown. */
export function createFailurePage(logger: Logger) {
  return async (error: FastifyError, request: FastifyRequest, reply: FastifyReply): Promise<FastifyReply> => {
    const problem = toProblem(error);
    // Nothing failed here when the caller went away before its form had arrived.
    if (problem.status >= 500 && (request.raw.complete || !request.raw.destroyed))
      logFailure(logger, error, request, 'page');
    return sendPage(reply.headers(problem.headers), findView(request), problem.status, {
      title: titles[problem.status] ?? STATUS_CODES[problem.status] ?? 'Error',
      body: errorBody(problem, request.id, request.method !== 'GET'),
      ...(problem.status === 503 && request.method === 'GET' && { refresh: 3 }),
    });
  };
}

export function sendUnknownPath(request: FastifyRequest, reply: FastifyReply): Promise<FastifyReply> {
  return sendPage(reply, findView(request), 404, {
    title: 'There is no such page',
    body: html`<p>Look at the address, or begin at <a href="/">the runs</a>.</p>`,
  });
}

const titles: Readonly<Record<number, string>> = {
  400: 'Not understood',
  403: 'Not allowed',
  404: 'Not found',
  409: 'Not possible now',
  413: 'Too large',
  415: 'Not understood',
  421: 'Another address',
  422: 'Not possible',
  429: 'Too many requests',
  500: 'Internal error',
  503: 'Not available now',
};

function errorBody({ status, message, problems }: ProblemError, call: string, isAction: boolean) {
  const lines =
    problems.length > 0 ? problems.map(({ where, what }) => `${where}: ${omitCommands(what)}`) : [message];
  return html`<div class="problems" role="alert">${lines.map((line) => html`<p dir="auto">${line}</p>`)}</div>
${status === 503 && isAction && html`<p>Look whether it was done before you repeat it: only the answer may have been lost.</p>`}
${status === 503 && !isAction && html`<p>This page tries again by itself.</p>`}
${status >= 500 && html`<p>The id of this call: <code>${call}</code>.</p>`}
<p><a href="/">To the runs</a></p>`;
}
