import { z } from 'zod';
import { notifiedEvents } from '../domain/notify.ts';
import { text } from '../platform/scalars.ts';
import { secretReference } from '../platform/secrets.ts';
import { signatureKeyForm } from '../platform/webhook-signature.ts';

const command = z
  .array(text)
  .min(1, 'expected a program')
  .max(100, 'expected a program and at most 99 arguments')
  .optional()
  .describe(
    "A program and its arguments, run in the campaign's folder, without a shell: [./tell.sh, night]. It gets JSON on its standard input, and VOLLEY_EVENT, VOLLEY_RUN and VOLLEY_NOTIFICATION; ends it with another code than 0, it is run again later.",
  );

const webhook = z
  .strictObject({
    url: z
      .string()
      .describe(
        'Its https address; may contain ${NOTIFY_…}: names of the environment that begin so, and no others.',
      )
      .meta({ writeOnly: true }),
    secret: secretReference.describe(
      `Key of the signature, as \${NOTIFY_…}: ${signatureKeyForm} (Standard Webhooks).`,
    ),
    plainHttp: z
      .enum(['refused', 'allowed'])
      .default('refused')
      .describe('Whether the address may be http on another machine than this.'),
  })
  .optional()
  .describe(
    'An address that JSON is sent to by POST, signed by the Standard Webhooks scheme; again with the same webhook-id until it is answered with 2xx.',
  );

/** Fields of an e-mail that say from whom it is, and who pays; the rest of it Volley writes itself. */
export const mailFields = [
  'SMTPFrom',
  'From',
  'FromEmail',
  'ReplyTo',
  'SubAccount',
  'Department',
  'ChargeCode',
] as const;

const mailField = text.optional().describe('As in `message`, without placeholders.');

const email = z
  .strictObject({
    to: z
      .array(text)
      .min(1, 'expected at least one address')
      .max(20, 'at most 20 addresses')
      .describe('The addresses it is sent to.'),
    account: text
      .optional()
      .describe(
        "The account it is sent through; the campaign's own by default. Its interface must have e-mail.",
      ),
    ...({
      SMTPFrom: mailField,
      From: mailField,
      FromEmail: mailField,
      ReplyTo: mailField,
      SubAccount: mailField,
      Department: mailField,
      ChargeCode: mailField,
    } satisfies Record<(typeof mailFields)[number], z.ZodType>),
  })
  .optional()
  .describe(
    'The summary as an e-mail, sent through an account as a run of its own: campaign "<name> (summary)".',
  );

const targetKinds = ['command', 'webhook', 'email'] as const;

const target = z
  .strictObject({
    on: z
      .array(z.enum(notifiedEvents))
      .min(1, 'expected at least one event')
      .default([...notifiedEvents])
      .describe(
        'What is told: completed (all accepted), failures (completed with rejected, failed or unknown requests), paused, missed (a time of the schedule made no run), refused (Volley refused to make a run, because of its contacts).',
      ),
    command,
    webhook,
    email,
  })
  .refine((written) => targetKinds.filter((way) => written[way] !== undefined).length === 1, {
    error: 'expected one of command, webhook and email',
  })
  .meta({ oneOf: targetKinds.map((way) => ({ required: [way] })) });

export const notify = z
  .array(target)
  .max(20, 'at most 20 can be told')
  .optional()
  .describe(
    'Who is told that a run is completed, paused or refused, or that a time of the schedule was missed.',
  );

type Target = NonNullable<z.output<typeof notify>>[number];

/** As it is frozen with a run: names of secrets, never secrets. */
export const frozenTarget = z.intersection(
  z.object({ on: z.array(z.enum(notifiedEvents)) }),
  z.discriminatedUnion('kind', [
    z.object({ kind: z.literal('command'), command: z.array(z.string()) }),
    z.object({
      kind: z.literal('webhook'),
      url: z.string(),
      secret: z.string(),
      plainHttp: z.enum(['refused', 'allowed']),
    }),
    z.object({
      kind: z.literal('email'),
      to: z.array(z.string()),
      account: z.string(),
      fields: z.record(z.string(), z.string()),
    }),
  ]),
);
export type FrozenTarget = z.output<typeof frozenTarget>;

/** What a campaign says of who is told, with its account where nothing else is said. */
export function freezeTargets({
  notify: targets = [],
  account,
}: {
  readonly notify?: readonly Target[] | undefined;
  readonly account: string;
}): FrozenTarget[] {
  return targets.flatMap(({ on, command, webhook, email }): FrozenTarget[] => [
    ...(command ? [{ on, kind: 'command' as const, command }] : []),
    ...(webhook ? [{ on, kind: 'webhook' as const, ...webhook }] : []),
    ...(email
      ? [
          {
            on,
            kind: 'email' as const,
            to: email.to,
            account: email.account ?? account,
            fields: Object.fromEntries(mailFieldsOf(email)),
          },
        ]
      : []),
  ]);
}

type Email = NonNullable<Target['email']>;

export function mailFieldsOf(email: Email): [name: string, value: string][] {
  return mailFields.flatMap((field): [string, string][] => {
    const value = email[field];
    return value === undefined ? [] : [[field, value]];
  });
}
