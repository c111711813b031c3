import { isSendTimePast } from '../../campaign/send-times.ts';
import type { Envelope } from '../../domain/message.ts';
import { memoizeByEnvelope } from './memoize-by-envelope.ts';

export type PastSendTimes = {
  readonly recipients: number;
  /** Some of them, with their SendTime; '' when their row has none. */
  readonly examples: readonly { readonly fileAndLine: string; readonly sendTime: string }[];
};

const maxExamples = 3;

/**
 * Finds past or empty SendTimes, which the service sends at once.
 *
 * @param message of the campaign
 * @returns reads the SendTime; '' when it is empty, undefined when it is to come
 */
export function createPastSendTimeReader(
  message: object,
  now: Date,
): (envelope: Envelope) => string | undefined {
  if (!Object.hasOwn(message, 'SendTime')) return () => undefined;
  const isOverIn = memoizeByEnvelope(
    ({ fields }) => fields['SendTime'] === undefined || isSendTimePast(fields, now),
  );
  return (envelope) => (isOverIn(envelope) ? (envelope.fields['SendTime'] ?? '') : undefined);
}

export function countPastSendTimes() {
  const examples: { readonly fileAndLine: string; readonly sendTime: string }[] = [];
  let recipients = 0;
  return {
    add: (sendTime: string, fileAndLine: () => string): void => {
      recipients++;
      if (examples.length < maxExamples) examples.push({ fileAndLine: fileAndLine(), sendTime });
    },
    found: (): PastSendTimes => ({ recipients, examples }),
  };
}
