import type { PlanFigures } from '../../engine/plan/planned-facts.ts';
import { count } from '../../platform/sentence.ts';
import { groupThousands } from '../../report/html/figures.ts';
import { type Html, html } from '../../report/html/html.ts';
import type { FormFields } from '../base/actions.ts';
import { refuse } from '../base/problems.ts';
import { textField } from '../parts/form-fields.ts';

type Counted = Pick<PlanFigures, 'recipients' | 'confirmAboveRecipients'>;

const isSmall = ({ recipients, confirmAboveRecipients }: Counted): boolean =>
  recipients <= confirmAboveRecipients;

/** The field for the number of recipients; undefined if it need not be typed. */
export function typedNumberField(counted: Counted, fields: FormFields): Html | undefined {
  if (isSmall(counted)) return undefined;
  return textField({
    name: 'recipients',
    label: 'Number of recipients',
    value: fields['recipients'],
    hint: `Type it: above ${count(counted.confirmAboveRecipients, 'recipient')}, it must be confirmed.`,
    attributes: html`required inputmode="numeric" autocomplete="off"`,
  });
}

/** @throws InputError when the number must be typed, and another one or none was */
export function requireTypedNumber(counted: Counted, fields: FormFields): void {
  const { recipients } = counted;
  const typed = (fields['recipients'] ?? '').replace(/[\s,.'’]/g, '');
  if (isSmall(counted) || typed === String(recipients)) return;
  refuse('recipients', `Type the number of recipients: ${groupThousands(recipients)}.`);
}
