import { isSendTimeOver } from '../campaign/send-times.ts';
import type { Envelope } from '../domain.ts';

export type PastSendTimes = {
  readonly recipients: number;
  /** Where some of them stand in the contact files, and their SendTime. */
  readonly examples: readonly { readonly place: string; readonly sendTime: string }[];
};

const shownPast = 3;

/** Counts recipients whose SendTime is over. */
export function watchSendTimes(now: Date) {
  /** Most recipients share an envelope. */
  const known = new WeakMap<Envelope, boolean>();
  const examples: { readonly place: string; readonly sendTime: string }[] = [];
  let recipients = 0;
  return {
    add: (envelope: Envelope, place: () => string): void => {
      const { SendTime: sendTime } = envelope.fields;
      if (sendTime === undefined) return;
      const isOver = known.get(envelope) ?? isSendTimeOver(envelope.fields, now);
      known.set(envelope, isOver);
      if (!isOver) return;
      recipients++;
      if (examples.length < shownPast) examples.push({ place: place(), sendTime });
    },
    found: (): PastSendTimes => ({ recipients, examples }),
  };
}
