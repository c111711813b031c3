export type ServiceRecord = { readonly recipients: readonly string[]; accepted: number };

/** Stores each MessageID with its recipients and acceptances. */
export type Service = {
  /** @throws Error if the MessageID came before for other recipients (rule 3) */
  readonly receive: (messageId: string, recipients: readonly string[], accept: boolean) => void;
  readonly accepted: (messageId: string) => number;
};

export function openService(): Service {
  const records = new Map<string, ServiceRecord>();
  return {
    receive(messageId, recipients, accept) {
      const record = records.get(messageId) ?? { recipients, accepted: 0 };
      if (record.recipients.join() !== recipients.join()) {
        throw new Error(`rule 3: ${messageId} was for ${record.recipients}, and now for ${recipients}`);
      }
      if (accept) record.accepted++;
      records.set(messageId, record);
    },
    accepted: (messageId) => records.get(messageId)?.accepted ?? 0,
  };
}
