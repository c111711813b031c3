import {
  credentialsIn,
  type ReceiverAccount,
  unknownAccount,
} from '../engine/delivery-reports/receiver-accounts.ts';
import { matchesDigest } from '../platform/digest.ts';
import { verifySignature } from '../platform/webhook-signature.ts';
import type { ReceivedCall } from './received-call.ts';

/** The check that a call failed; `account`: there is no such account. */
export type FailedCheck = 'account' | 'token' | 'address' | 'basic' | 'credentials' | 'signature';

/** What the server knows of a call before its body arrives. */
export type CallHead = {
  readonly token: string;
  readonly address: string;
  readonly authorization: string | undefined;
};

/** Returns the first failed check of those that need no body. All are made each time, so that timing does not show which failed. */
export function failedHeadCheck(
  account: ReceiverAccount | undefined,
  head: CallHead,
): FailedCheck | undefined {
  const { tokenDigests, addresses, basicDigest } = account ?? unknownAccount;
  return findFailed([
    ['account', account !== undefined],
    ['token', tokenDigests.filter((digest) => matchesDigest(head.token, digest)).length > 0],
    ['address', addresses?.has(head.address) ?? true],
    ['basic', basicDigest === undefined || matchesDigest(decodeBasic(head.authorization), basicDigest)],
  ]);
}

export type BodyChecks = {
  /** The first failed check of those that need the body. */
  readonly failed: FailedCheck | undefined;
  /** Digest of the signed content; undefined if the account needs no signature. */
  readonly signature: Buffer | undefined;
};

export function checkBody(account: ReceiverAccount, call: ReceivedCall): BodyChecks {
  const { credentialDigests, signatureKey } = account;
  const signature = signatureKey && verifySignature(signatureKey, call.headers, call.body, call.receivedAt);
  const failed = findFailed([
    [
      'credentials',
      credentialDigests === undefined || hasCredentials(credentialDigests, credentialsIn(account, call)),
    ],
    ['signature', signatureKey === undefined || signature !== undefined],
  ]);
  return { failed, signature };
}

function hasCredentials(
  digests: NonNullable<ReceiverAccount['credentialDigests']>,
  given: ReturnType<typeof credentialsIn>,
): boolean {
  const sender = matchesDigest(given.sender ?? '', digests.sender);
  const apiKey = matchesDigest(given.apiKey ?? '', digests.apiKey);
  return sender && apiKey;
}

function findFailed(checks: readonly (readonly [FailedCheck, boolean])[]): FailedCheck | undefined {
  return checks.find(([, holds]) => !holds)?.[0];
}

/** Decodes an `Authorization: Basic` header; empty without one, which matches no account. */
function decodeBasic(authorization: string | undefined): Buffer {
  const [, base64 = ''] = /^basic +([\w+/=-]+) *$/i.exec(authorization ?? '') ?? [];
  return Buffer.from(base64, 'base64');
}
