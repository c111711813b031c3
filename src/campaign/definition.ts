import { z } from 'zod';
import { channels } from '../domain/message.ts';
import { decimal, plainName, text } from '../platform/scalars.ts';
import { approval } from './approval.ts';
import { canary } from './canary-definition.ts';
import { contacts } from './contacts-definition.ts';
import { dispatch } from './dispatch.ts';
import { message } from './message-keys.ts';
import { notify } from './notify.ts';
import { guard } from './run-guard-definition.ts';
import { schedule } from './schedule.ts';
import { until, variants } from './variants-definition.ts';
import { campaignTimeZone, deadline, onDeadline, sendingWindow } from './window-definition.ts';

/**
 * Defines a campaign's shape once: for the TypeScript type, the check when it is loaded, and the JSON Schema for
 * editors (`campaigns/campaign.schema.json`).
 */

const file = z.strictObject({
  file: text.describe('A file to send, in a folder of `attachments`.'),
  name: text.optional().describe("The name that the recipient sees; by default the file's."),
});

const folderList = z
  .union([text, z.array(text).min(1, 'expected at least one folder').meta({ minItems: 1 })], {
    error: 'expected a folder, or a list of folders',
  })
  .transform((written) => (typeof written === 'string' ? [written] : written))
  .meta({ type: ['string', 'number', 'boolean', 'array'] });

const amount = decimal(1_000_000_000);

function amountsOf(name: string) {
  return z
    .record(z.string(), amount)
    .optional()
    .describe(`The most for each ${name}. "*": each other one, and recipients without one.`);
}

const budget = z
  .strictObject({
    campaign: amount.optional().describe('The most that a run may cost.'),
    subAccounts: amountsOf('SubAccount'),
    chargeCodes: amountsOf('ChargeCode'),
  })
  .optional()
  .describe(
    "Volley refuses a plan that would cost more, by the account's `rates`, or whose cost is unknown.",
  );

const chargeCodeFile = z.strictObject({
  file: text.describe('The file.'),
  column: text.optional().describe('Its column of ChargeCodes.'),
});

const chargeCodes = z
  .union([text, chargeCodeFile], { error: 'expected the name of a file, or { file: …, column: … }' })
  .transform((written) => (typeof written === 'string' ? { file: written } : written))
  .meta({ type: ['string', 'number', 'boolean', 'object'] })
  .optional()
  .describe(
    'A file with all valid ChargeCodes, or { file: …, column: … }. A contact with another one, or none, stops the plan.',
  );

export const definitionSchema = z
  .strictObject({
    campaign: plainName.describe("The campaign's name in reports."),
    account: plainName.describe('An account of the accounts file.'),
    channel: z.enum(channels).describe('The channel, one that the interface has.'),
    contacts,
    message,
    variants,
    until,
    files: z
      .array(file)
      .max(20, 'at most 20 files are allowed')
      .default([])
      .describe(
        'Attachments of an email, the document of a fax, or the targets of [[File1]], … in an SMS. With [[Column]] (statements/[[account]].pdf) a row names its own file in that folder. No hidden or YAML files, and none of the files of the campaign. At most 20 MiB in a request, 2 GiB in a run.',
      ),
    attachments: folderList
      .optional()
      .describe(
        'The folders of attachments; by default those of the account, or `documents`. One before a [[Column]] need not be named.',
      ),
    dispatch,
    guard,
    budget,
    chargeCodes,
    schedule,
    timeZone: campaignTimeZone,
    window: sendingWindow,
    deadline,
    onDeadline,
    canary,
    approval,
    notify,
  })
  .meta({ title: 'Volley campaign' });

export type Definition = z.output<typeof definitionSchema>;

export function definitionJsonSchema(): z.core.JSONSchema.JSONSchema {
  return z.toJSONSchema(definitionSchema, {
    io: 'input',
    override: ({ path, jsonSchema }) => {
      if (path.join('.') !== 'properties.variants.items.properties.message') return;
      // The keys of a message are described once.
      delete jsonSchema.properties;
      delete jsonSchema.additionalProperties;
      jsonSchema.$ref = '#/properties/message';
    },
  });
}
