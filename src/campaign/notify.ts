import { z } from 'zod';
import { notifiedEvents } from '../domain/notify.ts';
import { plainHttpPolicies } from '../platform/address-list.ts';
import { text } from '../platform/scalars.ts';
import { secretReference } from '../platform/secrets.ts';
import { signatureKeyForm } from '../platform/webhook-signature.ts';

const command = z
  .array(text)
  .min(1, 'expected a program')
  .max(100, 'expected a program and at most 99 arguments')
  .optional()
  .describe(
    "A program, run in the campaign's folder without a shell: [./notify.sh, night]. It gets JSON on standard input, and runs again unless it ends with 0.",
  );

const webhook = z
  .strictObject({
    url: z.string().describe('An https address. It can contain ${NOTIFY_…}.').meta({ writeOnly: true }),
    secret: secretReference.describe(
      `Key of the signature, as \${NOTIFY_…}: ${signatureKeyForm} (Standard Webhooks).`,
    ),
    plainHttp: z
      .enum(plainHttpPolicies)
      .default('refused')
      .describe('Whether the address can be http on another machine.'),
  })
  .optional()
  .describe('An address that gets JSON, signed by Standard Webhooks.');

/** The sender and billing fields of the e-mail; Volley writes the rest. */
const mailFields = [
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
      .describe('The recipient addresses.'),
    account: text.optional().describe("An account with e-mail; by default the campaign's."),
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
  .describe('The summary as an e-mail: a run of its own, "<name> (summary)".');

const targetKinds = ['command', 'webhook', 'email'] as const;

const target = z
  .strictObject({
    on: z
      .array(z.enum(notifiedEvents))
      .min(1, 'expected at least one event')
      .default([...notifiedEvents])
      .describe(
        'The events: completed (all accepted), failures (over, with others), paused, missed (a tick made no run), refused (because of its contacts).',
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
  .max(20, 'at most 20 targets are allowed')
  .optional()
  .describe('Where to send notifications.');

type Target = NonNullable<z.output<typeof notify>>[number];

/** Reads a target as it is stored with a run: names of secrets, never their values. */
export const frozenTarget = z.intersection(
  z.object({ on: z.array(z.enum(notifiedEvents)) }),
  z.discriminatedUnion('kind', [
    z.object({ kind: z.literal('command'), command: z.array(z.string()) }),
    z.object({
      kind: z.literal('webhook'),
      url: z.string(),
      secret: z.string(),
      plainHttp: z.enum(plainHttpPolicies),
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
