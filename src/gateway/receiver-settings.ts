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
    user: text
      .refine((user) => !user.includes(':'), 'expected a user without ":"')
      .describe('Name before the ":" in the callback URL.'),
    password: secretReference.describe('Password after it, as ${NAME}.'),
  })
  .describe('HTTP Basic: the service is given https://user:password@… as the callback URL.');

const credentials = z
  .union(
    [
      z.literal('required'),
      z.strictObject({
        sender: text.describe('The `Sender` that reports have.'),
        apiKey: secretReference.describe('The `APIKey` that reports have, as ${NAME}.'),
      }),
    ],
    {
      error: 'expected required, or keys "sender" and "apiKey", the latter as ${NAME}',
    },
  )
  .meta({ writeOnly: true })
  .describe(
    "`required`: `Sender` and `APIKey` in the body of a report must be the account's own `sender` and `apiKey`; or a map of `sender` and `apiKey` (as ${NAME}), which they must be instead.",
  );

const signature = z
  .strictObject({
    secret: secretReference.describe(`Key that both sides know, as \${NAME}: ${signatureKeyForm}.`),
  })
  .describe(
    'Reports must be signed by the Standard Webhooks scheme: headers webhook-id, webhook-timestamp and webhook-signature.',
  );

/** A caller must know the token and pass every check that is given. */
export const receiverSettings = z
  .strictObject({
    basic: basic.optional(),
    credentials: credentials.optional(),
    addresses: addressRangeList
      .min(1, 'expected one address or more')
      .optional()
      .describe('Addresses that reports come from, such as [203.0.113.7, 2001:db8::/32].'),
    trustedProxies: addressRangeList
      .optional()
      .describe(
        'Addresses of the proxies before the receiver, whose X-Forwarded-For is believed. The lists of all accounts count together.',
      ),
    signature: signature.optional(),
    ...deliveryReportMappingShape,
  })
  .optional()
  .describe(
    'How delivery reports are received: what a caller has to show beside the token of the path (all that is given), and what the service calls things.',
  );

/** Beside `receiverSettings`. */
export const webhookTokens = {
  webhookToken: secretReference
    .optional()
    .describe("Secret last part of the receiver's path, at least 22 characters, as ${NAME}."),
  webhookTokenSha256: z
    .string()
    .regex(/^[0-9a-f]{64}$/i, 'expected 64 hexadecimal digits')
    .optional()
    .describe(
      'The SHA-256 of such a token, in hexadecimal: the token itself need not be on the machine. With both given, both tokens are right.',
    ),
};

/** What callers must prove. Secrets that are only compared are SHA-256 digests. */
export type ReceiverAccount = {
  readonly name: string;
  /** One or two; either is valid. */
  readonly tokenDigests: readonly Buffer[];
  /** Of `user:password`. */
  readonly basicDigest?: Buffer;
  readonly credentialDigests?: { readonly sender: Buffer; readonly apiKey: Buffer };
  readonly addresses?: AddressList;
  /** The receiver uses the lists of all accounts together. */
  readonly trustedProxies: readonly string[];
  /** HMAC-SHA256. */
  readonly signatureKey?: Buffer;
  readonly mapping: DeliveryReportMapping;
};
