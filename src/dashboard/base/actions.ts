import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { z } from 'zod';
import { InputError } from '../../domain/problems.ts';
import { type Html, html } from '../../report/html/html.ts';
import { ProblemError } from '../../server/api/problem.ts';
import { textField } from '../parts/form-fields.ts';
import { keepNotice, maxReasonLength, takeReason } from './kept-texts.ts';
import { csrfField, type PageContent } from './layout.ts';
import { sendPage, type Where } from './pages.ts';
import { omitCommands, problemList, refuse } from './problems.ts';
import { type Asked, askedOf, requireScope, type View, viewOf } from './view.ts';

/** The page that asks before something is done. */
export type Question = {
  readonly title: string;
  /** What happens, how many people it concerns, and fields besides the reason. */
  readonly body: Html;
  /** The verb on the button. Without it nothing can be done now, and the body says why. */
  readonly button?: string;
  readonly within: { readonly href: string; readonly text: string };
  /** What the person looks at before the form, and what it may load. */
  readonly above?: Html;
  /** Where the form is sent, if it is not the address of the page. */
  readonly action?: string;
  readonly policy?: string;
};

/** The first value of each field of a form. */
export type FormFields = Readonly<Record<string, string>>;

/** An action, and the page that asks before it. */
export type Action = Where & {
  /** Whether the person writes a reason, for the audit trail; always if undefined. */
  readonly needsReason?: (asked: Asked) => boolean;
  /** @throws InputError or ProblemError if it cannot be done now */
  readonly ask: (view: View, asked: Asked, fields: FormFields) => Promise<Question>;
  /**
   * Does it, through a use case. The reason has no spaces around it.
   *
   * @returns where to go then, and what was done
   * @throws InputError if it cannot be done; the question is shown again, with the problem
   */
  readonly act: (
    view: View,
    asked: Asked,
    fields: FormFields,
  ) => Promise<{ readonly to: string; readonly notice: string }>;
};

/** GET asks, POST of the same address acts. */
export function addAction(server: FastifyInstance, action: Action): void {
  const { path, scope, needsReason = () => true, ask, act } = action;
  server.get(path, async (request, reply) => {
    const view = viewOf(request);
    requireScope(view, scope);
    const asked = askedOf(request);
    const needed = needsReason(asked);
    const fields = needed ? { reason: takeReason(reply) } : {};
    const question = await ask(view, asked, {});
    return sendPage(reply, view, 200, questionPage(view, question, { needsReason: needed, fields }));
  });
  addForm(server, {
    path,
    scope,
    needsReason,
    act,
    again: async (view, asked, { fields, error }) => {
      const question = await ask(view, asked, fields);
      return questionPage(view, question, { needsReason: needsReason(asked), fields, error });
    },
  });
}

/** A form that is sent, and the page that it is shown on again if it is refused. */
type Form = Where &
  Pick<Action, 'act'> & {
    readonly needsReason: (asked: Asked) => boolean;
    readonly again: (
      view: View,
      asked: Asked,
      refused: { readonly fields: FormFields; readonly error: InputError },
    ) => Promise<PageContent>;
  };

/** POST acts. */
export function addForm(server: FastifyInstance, { path, scope, needsReason, act, again }: Form): void {
  server.post(path, async (request, reply) => {
    const view = viewOf(request);
    const given = requireForm(request, view);
    requireScope(view, scope);
    const asked = askedOf(request);
    const reason = (given['reason'] ?? '').trim();
    const fields = { ...given, reason };
    try {
      if (reason.length > maxReasonLength)
        refuse('reason', `It is longer than ${maxReasonLength} characters.`);
      if (needsReason(asked) && reason === '') refuse('reason', 'Write the reason, for the audit trail.');
      const { to, notice } = await act(view, asked, fields);
      return goTo(reply, to, notice);
    } catch (error) {
      if (!(error instanceof InputError)) throw error;
      const page = await again(view, asked, { fields, error }).catch(() => undefined);
      if (!page) throw error;
      return sendPage(reply, view, 422, page);
    }
  });
}

const body = z.record(z.string(), z.unknown()).catch({});

/** @throws ProblemError when the form is not of this session, or has text that cannot be stored */
export function requireForm({ body: given }: FastifyRequest, view: View): FormFields {
  const fields: Record<string, string> = {};
  for (const [name, value] of Object.entries(body.parse(given))) {
    const first: unknown = Array.isArray(value) ? value[0] : value;
    if (typeof first === 'string') fields[name] = first;
  }
  requireCsrfToken(view, fields['csrf'] ?? '');
  const bad = Object.keys(fields).find(
    (name) => /\0/.test(fields[name] ?? '') || !fields[name]?.isWellFormed(),
  );
  if (bad !== undefined)
    throw new ProblemError(400, 'input', `The field ${bad} has a character that cannot be stored.`);
  return fields;
}

/** @throws ProblemError */
export function requireCsrfToken(view: View, given: string): void {
  if (view.isCsrfToken(given)) return;
  throw new ProblemError(
    403,
    'scope',
    'The form is not of this session. Open the page again, and repeat it there.',
  );
}

function goTo(reply: FastifyReply, to: string, notice: string): FastifyReply {
  keepNotice(reply, notice);
  return reply.redirect(to, 303);
}

/** The page of a question; with an error, what is wrong with the form that was sent. */
export function questionPage(
  view: View,
  question: Question,
  {
    needsReason,
    fields,
    error,
  }: { readonly needsReason: boolean; readonly fields: FormFields; readonly error?: InputError | undefined },
): PageContent {
  const { title, body: text, button, within, above, action, policy } = question;
  const problems = error?.problems.map(({ what }) => omitCommands(what));
  if (button === undefined) {
    const body = html`${problems ? problemList('Nothing was done', problems) : text}
<p class="buttons"><a href="${within.href}">Back to ${within.text}</a></p>`;
    return { title, within, body };
  }
  return {
    title,
    within,
    ...(policy !== undefined && { policy }),
    body: html`${problems && problemList('It was not done', problems)}
${above}
<form method="post" class="question"${action !== undefined && html` action="${action}"`}>
${csrfField(view)}
${text}
${needsReason && reasonField(fields['reason'] ?? '')}
<p class="buttons"><button>${button}</button> <a href="${within.href}">Go back</a></p>
</form>`,
  };
}

function reasonField(value: string): Html {
  return textField({
    name: 'reason',
    label: 'Reason',
    value,
    hint: 'For the audit trail. No address of a recipient.',
    attributes: html`required maxlength="${maxReasonLength}" autocomplete="off" dir="auto"`,
  });
}
