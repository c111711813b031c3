import { z } from 'zod';
import { type AddressList, isAddressRange } from '../platform/address-list.ts';
import { text } from '../platform/scalars.ts';
import { secretReference } from '../platform/secrets.ts';
import { signatureKeyForm } from '../platform/webhook-signature.ts';
import {
  type DeliveryReportMapping,
  deliveryReportFields,
  type MeaningsByWord,
  observedMapping,
  toWord,
  wordMeanings,
} from '../wire/delivery-report-mapping.ts';

function meaningsSchema(description: string) {
  return z.record(z.string().min(1), z.enum(wordMeanings)).default({}).describe(description);
}

function textListSchema(byDefault: readonly string[], description: string) {
  return z
    .array(text)
    .default([...byDefault])
    .describe(`${description} Your list replaces the default.`);
}

const withoutType = z
  .strictObject({
    type: z
      .enum(['SMS', 'Email', 'Voice', 'Fax'])
      .optional()
      .describe('Their Type, which says what the invoice counts.'),
    report: text.optional().describe('The field that only reports have; without it, all but replies.'),
    reply: text.optional().describe('The field that only replies have, such as ReceivedID.'),
  })
  .refine(({ type, report }) => type !== undefined || report !== undefined, 'expected "type" or "report"')
  .optional()
  .describe('How reports without a Type are recognised; by default not read.');

export const deliveryReportMappingShape = {
  fields: z
    .partialRecord(z.enum(deliveryReportFields), z.array(text).min(1, 'expected at least one name'))
    .default({})
    .describe('Other names of fields: a list under the known one. The first with a value counts.'),
  statusWords: meaningsSchema(
    'Words of Status: delivered, undelivered or pending. Success, Failed and Pending are known.',
  ),
  resultWords: meaningsSchema(
    'The meaning of a whole Result, before the Status. "Control Deleted" is undelivered by default.',
  ),
  optOutResults: textListSchema(
    ['Destination is blacklisted'],
    'Whole Results, in any case, that mean the recipient opted out.',
  ),
  stopWords: textListSchema(
    observedMapping.stopWords,
    'Replies that opt the recipient out. The whole message is compared, in any case, without final punctuation.',
  ),
  credits: z.enum(['refused', 'allowed']).default('refused').describe('Whether a negative Price counts.'),
  withoutType,
  reportsIn: z
    .array(text)
    .max(5)
    .optional()
    .describe(
      'Where the reports of a call are: names from the outside, such as [Batch, Report], without the root element of XML. []: the JSON is a list. By default a call is one report.',
    ),
};

type MappingDefinition = z.output<z.ZodObject<typeof deliveryReportMappingShape>>;

export function toDeliveryReportMapping(written: MappingDefinition): DeliveryReportMapping {
  return {
    fields: { ...observedMapping.fields, ...written.fields },
    statusWords: { ...observedMapping.statusWords, ...toMeaningsByWord(written.statusWords) },
    resultWords: { ...observedMapping.resultWords, ...toMeaningsByWord(written.resultWords) },
    optOutResults: written.optOutResults.map(toWord),
    stopWords: written.stopWords,
    credits: written.credits,
    ...(written.withoutType && { withoutType: written.withoutType }),
    ...(written.reportsIn && { reportsIn: written.reportsIn }),
  };
}

function toMeaningsByWord(written: MeaningsByWord): MeaningsByWord {
  return Object.fromEntries(Object.entries(written).map(([text, outcome]) => [toWord(text), outcome]));
}

const addressRangeList = z.array(
  z.string().refine(isAddressRange, 'expected an IP address, or a range such as 203.0.113.0/24'),
);

const basic = z
  .strictObject({
    user: text.refine((user) => !user.includes(':'), 'expected a user without ":"').describe('The user.'),
    password: secretReference.describe('The password, as ${NAME}.'),
  })
  .describe('HTTP Basic: the callback URL is https://user:password@…');

const credentials = z
  .union(
    [
      z.literal('required'),
      z.strictObject({
        sender: text.describe('The `Sender`.'),
        apiKey: secretReference.describe('The `APIKey`, as ${NAME}.'),
      }),
    ],
    {
      error: 'expected required, or keys "sender" and "apiKey", the latter as ${NAME}',
    },
  )
  .meta({ writeOnly: true })
  .describe("The `Sender` and `APIKey` that each report must contain: the account's (`required`), or these.");

const signature = z
  .strictObject({
    secret: secretReference.describe(`The key that both sides know, as \${NAME}: ${signatureKeyForm}.`),
  })
  .describe('Delivery reports must be signed by Standard Webhooks.');

/** A caller must know the token and pass every check that is given. */
export const receiverSettings = z
  .strictObject({
    basic: basic.optional(),
    credentials: credentials.optional(),
    addresses: addressRangeList
      .min(1, 'expected one address or more')
      .optional()
      .describe('Where delivery reports come from, such as [203.0.113.7, 2001:db8::/32].'),
    trustedProxies: addressRangeList
      .optional()
      .describe('Proxies in front, whose X-Forwarded-For counts; of all accounts together.'),
    signature: signature.optional(),
    ...deliveryReportMappingShape,
  })
  .optional()
  .describe('How delivery reports are received and read. A call must pass every check here.');

export const webhookTokens = {
  webhookToken: secretReference
    .optional()
    .describe("The secret end of the receiver's path, as ${NAME}; at least 22 characters."),
  webhookTokenSha256: z
    .string()
    .regex(/^[0-9a-f]{64}$/i, 'expected 64 hexadecimal digits')
    .optional()
    .describe('The SHA-256 of such a token, in hexadecimal. Of both, each is valid.'),
};

/** What callers must prove. Secrets that are only compared are SHA-256 digests. */
export type ReceiverAccount = {
  readonly name: string;
  /** One or two; either is valid. */
  readonly tokenDigests: readonly Buffer[];
  /** SHA-256 of `user:password`. */
  readonly basicDigest?: Buffer;
  readonly credentialDigests?: { readonly sender: Buffer; readonly apiKey: Buffer };
  readonly addresses?: AddressList;
  /** The receiver uses the lists of all accounts together. */
  readonly trustedProxies: readonly string[];
  /** The key of HMAC-SHA256. */
  readonly signatureKey?: Buffer;
  readonly mapping: DeliveryReportMapping;
};
