import { z } from 'zod';
import { text } from '../platform/scalars.ts';
import { keypadTones } from '../wire/message-parts.ts';
import { describeMessageKey, messageKeys } from './message-keys.ts';

const tone = z
  .string()
  .refine((written) => keypadTones.includes(written), { error: 'expected a button from 1 to 9' })
  .meta({ type: 'integer', minimum: 1, maximum: 9 })
  .describe('The telephone button.');

const keypad = z.strictObject({
  Tone: tone,
  RouteNumber: text.describe('The phone number that it connects to.'),
});

const keypads = z
  .array(keypad)
  .max(keypadTones.length, 'a telephone has at most 9 buttons')
  .superRefine((list, context) => {
    for (const [index, { Tone }] of list.entries()) {
      if (list.findIndex((other) => other.Tone === Tone) === index) continue;
      context.addIssue({ code: 'custom', path: [index, 'Tone'], message: 'expected each button once' });
    }
  })
  .describe('Calls: the buttons that connect to a number, at most 9.');

/** It is in the schema only so that its error can say why. */
const messageId = z
  .unknown()
  .refine(() => false, {
    error:
      'Volley creates it (at most 40 letters and digits, unique to each request); remove it from the campaign',
  })
  .meta({ not: {}, description: 'Not for campaigns: Volley creates it.' });

export const message = z
  .strictObject({
    ...Object.fromEntries(messageKeys.map((key) => [key, text.describe(describeMessageKey(key)).optional()])),
    Keypads: keypads.optional(),
    MessageID: messageId.optional(),
  })
  .describe(
    "The message, in the interface's field names. Values can contain [[Column]] and [[Column|fallback]].",
  );
