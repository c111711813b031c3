import { z } from 'zod';
import { type AddressList, isAddressRange } from '../platform/address-list.ts';
import { text } from '../platform/scalars.ts';
import { secretReference } from '../platform/secrets.ts';
import { signatureKeyForm } from '../platform/webhook-signature.ts';
import type { DeliveryReportMapping } from '../wire/delivery-report-mapping.ts';
import { deliveryReportMappingShape } from './delivery-report-mapping.ts';

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
