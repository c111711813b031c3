import { isSendTimePast } from '../../campaign/send-times.ts';
import type { Contact } from '../../domain/contacts.ts';
import type { Envelope } from '../../domain/message.ts';
import { memoizeByEnvelope } from './memoize-by-envelope.ts';

export type PastSendTimes = {
  readonly recipients: number;
  /** Some of them, with their SendTime; '' when their row has none. */
  readonly examples: readonly { readonly fileAndLine: string; readonly sendTime: string }[];
};

const maxExamples = 3;

export type PastSendTimesCounter = ReturnType<typeof countPastSendTimes>;

/** Past or empty SendTimes, which the service sends at once. */
export function countPastSendTimes(fields: object, now: Date) {
  const isExpected = Object.hasOwn(fields, 'SendTime');
  const isOverIn = memoizeByEnvelope(
    ({ fields: values }) => values['SendTime'] === undefined || isSendTimePast(values, now),
  );
  const examples: { readonly fileAndLine: string; readonly sendTime: string }[] = [];
  let recipients = 0;
  return {
    add: (envelope: Envelope, fileAndLine: () => string): void => {
      if (!isExpected) return;
      const { SendTime: sendTime = '' } = envelope.fields;
      if (!isOverIn(envelope)) return;
      recipients++;
      if (examples.length < maxExamples) examples.push({ fileAndLine: fileAndLine(), sendTime });
    },
    found: (): PastSendTimes => ({ recipients, examples }),
  };
}

/** Counts valid rows, also those that are left out later. */
export async function* watchPastSendTimes(
  contacts: AsyncIterable<readonly Contact[]>,
  counter: PastSendTimesCounter,
): AsyncGenerator<readonly Contact[], void, undefined> {
  for await (const batch of contacts) {
    for (const contact of batch) if (contact.kind === 'contact') counter.add(contact.envelope, () => '');
    yield batch;
  }
}
