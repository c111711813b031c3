import { expect, test } from 'vitest';
import type { Contact } from '../../../src/domain/contacts.ts';
import type { Envelope } from '../../../src/domain/message.ts';
import { createFingerprint } from '../../../src/engine/plan/fingerprint.ts';

const head = { campaign: 'outage', account: 'main', channel: 'sms' };
const envelope: Envelope = {
  fields: { Message: 'Power is off', SubAccount: 'NSW' },
  keypads: [{ Tone: '1', RouteNumber: '+61400000001' }],
  files: [{ path: 'a.pdf', name: 'a.pdf' }],
  audio: { Voice: 'a.wav' },
};
const ann = { address: '+61400000007', destination: { 'First Name': 'Ann', Custom1: 'Perth' }, envelope };
const bob = { address: '+61400000008', destination: { 'First Name': 'Bob' }, envelope };

type Sent = Pick<Extract<Contact, { kind: 'contact' }>, 'address' | 'destination' | 'envelope'>;

async function computeFingerprint(sent: readonly Sent[], of = head, file = 'content'): Promise<string> {
  const fingerprint = createFingerprint(of);
  async function* batches() {
    yield sent.map(
      (contact, index): Contact => ({
        kind: 'contact',
        file: 0,
        line: index + 2,
        originalAddress: '',
        ...contact,
      }),
    );
  }
  for await (const _ of fingerprint.watch(batches()));
  await fingerprint.watchFiles(async () => Buffer.from(file))('a.pdf');
  return fingerprint.digest().toString('hex');
}

test('the order of contacts, fields and equal envelopes does not change the fingerprint', async () => {
  const turned = { ...envelope, fields: { SubAccount: 'NSW', Message: 'Power is off' } };
  const annTurned = { ...ann, destination: { Custom1: 'Perth', 'First Name': 'Ann' }, envelope: turned };
  expect(await computeFingerprint([bob, annTurned])).toBe(await computeFingerprint([ann, bob]));
});

test('a change of anything that is sent changes the fingerprint', async () => {
  const withEnvelope = (other: Partial<Envelope>) => [{ ...ann, envelope: { ...envelope, ...other } }, bob];
  const all = await Promise.all([
    computeFingerprint([ann, bob]),
    computeFingerprint([ann]),
    computeFingerprint([ann, bob, bob]),
    computeFingerprint([ann, { ...bob, address: '+61400000009' }]),
    computeFingerprint([
      { ...ann, address: bob.address },
      { ...bob, address: ann.address },
    ]),
    computeFingerprint([{ ...ann, destination: { 'Last Name': 'Ann', Custom1: 'Perth' } }, bob]),
    computeFingerprint([{ ...ann, destination: { 'First Name': 'Ann', Custom1: '' } }, bob]),
    computeFingerprint([{ ...ann, destination: { 'First Name': 'Ann' } }, bob]),
    computeFingerprint(withEnvelope({ fields: { Message: 'Power is on', SubAccount: 'NSW' } })),
    computeFingerprint(withEnvelope({ fields: { Message: 'NSW', SubAccount: 'Power is off' } })),
    computeFingerprint(withEnvelope({ keypads: [] })),
    computeFingerprint(withEnvelope({ files: [{ path: 'a.pdf', name: 'b.pdf' }] })),
    computeFingerprint(withEnvelope({ audio: { Other: 'a.wav' } })),
    computeFingerprint([ann, bob], { ...head, account: 'other' }),
    computeFingerprint([ann, bob], head, 'other content'),
  ]);
  expect(new Set(all).size).toBe(all.length);
});
