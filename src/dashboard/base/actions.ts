import type { FastifyInstance, FastifyRequest } from 'fastify';
import { z } from 'zod';
import { InputError } from '../../domain/problems.ts';
import { type Html, html } from '../../report/html/html.ts';
import { ProblemError } from '../../server/api/problem.ts';
import { textField } from '../parts/form-fields.ts';
import { keepNotice, maxReasonLength, takeReason } from './kept-texts.ts';
import { csrfField, type PageContent } from './layout.ts';
import { open, sendPage, type Where } from './pages.ts';
import { omitCommands, problemList, refuse } from './problems.ts';
import { type Asked, type View, viewOf } from './view.ts';

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

/** A form that is sent, and the page that it is shown on again if it is refused. */
type Form = Where & {
  /** Whether the person writes a reason, for the audit trail; always if undefined. */
  readonly needsReason?: (asked: Asked) => boolean;
  /**
   * Does it, through a use case. The reason has no spaces around it.
   *
   * @returns where to go then, and what was done
   * @throws InputError if it cannot be done
   */
  readonly act: (
    view: View,
    asked: Asked,
    fields: FormFields,
  ) => Promise<{ readonly to: string; readonly notice: string }>;
  readonly again: (
    view: View,
    asked: Asked,
    refused: { readonly fields: FormFields; readonly error: InputError },
  ) => Promise<PageContent>;
};

/** An action, and the page that asks before it, which is shown again if it is refused. */
export type Action = Omit<Form, 'again'> & {
  /** @throws InputError or ProblemError if it cannot be done now */
  readonly ask: (view: View, asked: Asked, fields: FormFields) => Promise<Question>;
};

export function createForms(server: FastifyInstance) {
  /** POST acts. */
  const addForm = ({ needsReason = () => true, act, again, ...where }: Form): void => {
    server.post(where.path, async (request, reply) => {
      const given = requireForm(request, viewOf(request));
      const { view, asked } = open(request, where);
      const reason = (given['reason'] ?? '').trim();
      const fields = { ...given, reason };
      try {
        if (reason.length > maxReasonLength)
          refuse('reason', `It is longer than ${maxReasonLength} characters.`);
        if (needsReason(asked) && reason === '') refuse('reason', 'Write the reason, for the audit trail.');
        const { to, notice } = await act(view, asked, fields);
        keepNotice(reply, notice);
        return reply.redirect(to, 303);
      } catch (error) {
        if (!(error instanceof InputError)) throw error;
        const page = await again(view, asked, { fields, error }).catch(() => undefined);
        if (!page) throw error;
        return sendPage(reply, view, 422, page);
      }
    });
  };
  /** GET asks, POST of the same address acts. */
  const addAction = ({ ask, ...form }: Action): void => {
    const { needsReason = () => true, path } = form;
    server.get(path, async (request, reply) => {
      const { view, asked } = open(request, form);
      const needed = needsReason(asked);
      const fields = needed ? { reason: takeReason(reply) } : {};
      const question = await ask(view, asked, {});
      return sendPage(reply, view, 200, questionPage(view, question, { needsReason: needed, fields }));
    });
    const again: Form['again'] = async (view, asked, { fields, error }) => {
      const question = await ask(view, asked, fields);
      return questionPage(view, question, { needsReason: needsReason(asked), fields, error });
    };
    addForm({ ...form, again });
  };
  return { addForm, addAction };
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

/** The page of a question; with an error, what is wrong with the form that was sent. */
export function questionPage(
  view: View,
  question: Question,
  asked: {
    readonly needsReason: boolean;
    readonly fields: FormFields;
    readonly error?: InputError | undefined;
  },
): PageContent {
  const { title, body: text, button, within, above, action, policy } = question;
  const { needsReason, fields, error } = asked;
  const problems = error?.problems.map(({ what }) => omitCommands(what));
  if (button === undefined) {
    const body = html`${problems ? problemList('Nothing was done', problems) : text}
<p class="buttons"><a href="${within.href}">Back to ${within.text}</a></p>`;
    return { title, within, body };
  }
  return {
    title,
    within,
    policy,
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
