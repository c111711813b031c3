import {
  credentialsIn,
  type ReceiverAccount,
  unknownAccount,
} from '../engine/delivery-reports/receiver-accounts.ts';
import { matchesDigest } from '../platform/digest.ts';
import { verifySignature } from '../platform/webhook-signature.ts';
import type { ReceivedCall } from './received-call.ts';

/** What a caller has not shown; `account` is one that there is not. */
export type FailedCheck = 'account' | 'token' | 'address' | 'basic' | 'credentials' | 'signature';

/** What can be said of a call before its body is there. */
export type CallHead = {
  readonly token: string;
  readonly address: string;
  readonly authorization: string | undefined;
};

/**
 * The first check that a call fails by what stands before its body, which is not read then. All are made each time, so
 * that the time tells nothing of which failed.
 */
export function failedHeadCheck(
  account: ReceiverAccount | undefined,
  head: CallHead,
): FailedCheck | undefined {
  const { tokenDigests, addresses, basicDigest } = account ?? unknownAccount;
  return firstFailed([
    ['account', account !== undefined],
    ['token', tokenDigests.filter((digest) => matchesDigest(head.token, digest)).length > 0],
    ['address', addresses?.has(head.address) ?? true],
    ['basic', basicDigest === undefined || matchesDigest(userAndPassword(head.authorization), basicDigest)],
  ]);
}

export type BodyChecks = {
  /** The first check that the call fails by its body. */
  readonly failed: FailedCheck | undefined;
  /** Digest of what is signed; undefined where the account asks for no signature. */
  readonly signature: Buffer | undefined;
};

export function checkBody(account: ReceiverAccount, call: ReceivedCall): BodyChecks {
  const { credentialDigests, signatureKey } = account;
  const signature = signatureKey && verifySignature(signatureKey, call.headers, call.body, call.receivedAt);
  const failed = firstFailed([
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

function firstFailed(checks: readonly (readonly [FailedCheck, boolean])[]): FailedCheck | undefined {
  return checks.find(([, holds]) => !holds)?.[0];
}

/** What stands in an `Authorization: Basic` header, decoded; '' where there is none, which no account expects. */
function userAndPassword(authorization: string | undefined): Buffer {
  const [, base64 = ''] = /^basic +([\w+/=-]+) *$/i.exec(authorization ?? '') ?? [];
  return Buffer.from(base64, 'base64');
}
