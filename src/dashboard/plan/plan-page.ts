import type { FastifyInstance } from 'fastify';
import { readPlannedMessages } from '../../engine/plan/planned-messages.ts';
import { createPlannedRuns } from '../../engine/plan/planned-run.ts';
import { previewPolicy } from '../../report/html/preview-message.ts';
import { sendPage } from '../base/answer.ts';
import { textIn } from '../base/fields.ts';
import { safeHeaders } from '../base/guards.ts';
import type { Tools } from '../base/tools.ts';
import { askedOf, requireScope, requireVisibleRun, viewOf } from '../base/view.ts';
import { runPath } from '../paths.ts';
import { planPart } from './plan-part.ts';

const messagesPerPage = 3;

/** What a run was planned to send, before a person approves it: counts, cost, windows and messages. */
export function addPlanPage(server: FastifyInstance, { limits }: Tools): void {
  const plans = createPlannedRuns();
  server.get('/runs/:run/plan', async (request, reply) => {
    const view = viewOf(request);
    requireScope(view, 'read');
    const { params, query } = askedOf(request);
    const run = await requireVisibleRun(view, params['run'] ?? '');
    const { facts, from, messages } = await limits.page(async () => {
      const facts = await plans.read(view.context, run.run);
      const from = Math.min(numberIn(textIn(query, 'request')), Math.max(1, facts.requests));
      const messages = await readPlannedMessages(view.context, run, from, messagesPerPage);
      return { facts, from, messages };
    });
    // The HTML of an e-mail brings its own styles, in a frame without any rights.
    const others = safeHeaders['content-security-policy']
      .split('; ')
      .filter((each) => !/^(?:style|img)-src /.test(each));
    const ofFrames = previewPolicy.replace("style-src '", "style-src 'self' '");
    reply.header('content-security-policy', [...others, ofFrames].join('; '));
    return sendPage(reply, view, 200, {
      title: `Plan of ${run.campaign}`,
      within: { href: runPath(run.run), text: `${run.campaign} (${run.run})` },
      body: planPart({ run, facts, messages, from, perPage: messagesPerPage }, view),
    });
  });
}

/** A number of a request; the first for anything else. */
function numberIn(text: string): number {
  return /^[1-9]\d{0,8}$/.test(text) ? Number(text) : 1;
}
