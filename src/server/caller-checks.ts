import {
  type ReceiverAccount,
  readCredentials,
  unknownAccount,
} from '../engine/delivery-reports/receiver-accounts.ts';
import { matchesDigest } from '../platform/digest.ts';
import { verifySignature } from '../platform/webhook-signature.ts';
import type { UncheckedCall } from './received-call.ts';

/** `account`: there is no such account. */
export type FailedCheck = 'account' | 'token' | 'address' | 'basic' | 'credentials' | 'signature';

/** A call before its body arrives. */
type CallHead = {
  readonly token: string;
  readonly address: string;
  readonly authorization: string | undefined;
};

/** Makes all checks that need no body, so that timing does not show which failed. Returns the first failed one. */
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

/** @returns the first failed check; and the digest of the signed content, undefined if the account needs no signature */
export function checkBody(account: ReceiverAccount, call: UncheckedCall) {
  const { credentialDigests, signatureKey } = account;
  const signature = signatureKey && verifySignature(signatureKey, call.headers, call.body, call.receivedAt);
  const failed = findFailed([
    [
      'credentials',
      credentialDigests === undefined || hasCredentials(credentialDigests, readCredentials(account, call)),
    ],
    ['signature', signatureKey === undefined || signature !== undefined],
  ]);
  return { failed, signature };
}

function hasCredentials(
  digests: NonNullable<ReceiverAccount['credentialDigests']>,
  given: ReturnType<typeof readCredentials>,
): boolean {
  const sender = matchesDigest(given.sender ?? '', digests.sender);
  const apiKey = matchesDigest(given.apiKey ?? '', digests.apiKey);
  return sender && apiKey;
}

function findFailed(checks: readonly (readonly [FailedCheck, boolean])[]): FailedCheck | undefined {
  return checks.find(([, holds]) => !holds)?.[0];
}

/** An empty result matches no account. */
function decodeBasic(authorization: string | undefined): Buffer {
  const [, base64 = ''] = /^basic +([\w+/=-]+) *$/i.exec(authorization ?? '') ?? [];
  return Buffer.from(base64, 'base64');
}
