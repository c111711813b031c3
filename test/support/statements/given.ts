/** Values of parameters that decide the text of a statement and are not in the source. */
export const givenValues = {
  'cursor.ts streamRows 0': [{ escapeIdentifier: (name: string) => `"${name}"` }],
  'cursor.ts streamRows 1': ['rows'],
  'cursor.ts streamRows 3': [1000],
  'billing/report.ts streamBilling 1': [
    { by: ['SubAccount', 'account', 'month'], filter: { SubAccount: ['one'], account: [null] } },
  ],
  'billing/report.ts streamBilling 2': [false, true],
  'planning/decide.ts decideContacts 1': [
    { channel: 'sms', identity: { key: [], duplicates: 'merge' }, sourceRun: null },
    {
      channel: 'email',
      identity: { key: ['member'], duplicates: 'merge' },
      sourceRun: 'run',
      frequencyCap: { since: 'a time', campaign: null, milliseconds: 1 },
    },
  ],
  'planning/expand.ts expand 1': [{ identity: { key: ['member'] }, sourceRun: null }],
  'planning/stage-contacts.ts copyIn 1': ['staged_contacts'],
  'recipients/traces.ts findAddressTraces 1': ['ann@example.org', '+61412345678'],
  'recipients/traces.ts listLinesOfAddress 1': ['ann@example.org', '+61412345678'],
  'recipients/find.ts findRecipients 1': [{ kind: 'address' }, { kind: 'messageId' }],
};
