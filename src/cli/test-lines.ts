import { timeFields } from '../campaign/test-definition.ts';
import type { TestRecipients } from '../engine/plan/test-recipients.ts';
import { printable } from '../report/printable.ts';

/** What a plan prints about a test. */
export function testLines({ addresses, leftOut }: TestRecipients): string[] {
  const times = leftOut.filter((key) => timeFields.includes(key));
  const texts = leftOut.filter((key) => key !== 'Keypads' && !times.includes(key));
  return [
    `  test        to ${addresses.map(printable).join(', ')}; nothing reaches the addresses of the rows, and the messages do not say that they are a test`,
    ...(texts.length > 0
      ? [`  without     ${texts.join(', ')}: a copy or an answer could reach a row's address`]
      : []),
    ...(times.length > 0 ? [`  at once     without ${times.join(', ')}`] : []),
    ...(leftOut.includes('Keypads')
      ? ['  keypads     call your first number instead of the numbers of the rows']
      : []),
  ];
}
