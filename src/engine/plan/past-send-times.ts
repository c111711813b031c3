import { isSendTimeOver } from '../../campaign/send-times.ts';
import type { Envelope } from '../../domain/message.ts';
import { rememberByEnvelope } from './remember.ts';

export type PastSendTimes = {
  readonly recipients: number;
  /** Where some of them stand in the contact files, and their SendTime; '' where their row has none. */
  readonly examples: readonly { readonly place: string; readonly sendTime: string }[];
};

const shownPast = 3;

/** Counts recipients whom the service sends to at once, though the campaign has a SendTime: theirs is over, or empty. */
export function watchSendTimes(fields: object, now: Date) {
  const isExpected = Object.hasOwn(fields, 'SendTime');
  const isOverIn = rememberByEnvelope(
    ({ fields: values }) => values['SendTime'] === undefined || isSendTimeOver(values, now),
  );
  const examples: { readonly place: string; readonly sendTime: string }[] = [];
  let recipients = 0;
  return {
    add: (envelope: Envelope, place: () => string): void => {
      if (!isExpected) return;
      const { SendTime: sendTime = '' } = envelope.fields;
      if (!isOverIn(envelope)) return;
      recipients++;
      if (examples.length < shownPast) examples.push({ place: place(), sendTime });
    },
    found: (): PastSendTimes => ({ recipients, examples }),
  };
}
