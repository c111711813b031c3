import { z } from 'zod';
import { invoiceFields } from '../../contacts/invoice-file.ts';
import type { InvoiceReading } from '../../contacts/open-invoice.ts';
import { channels } from '../../domain/message.ts';
import type { ReconciliationPeriod, ReconciliationScope } from '../../ledger/billing/compare-invoice.ts';
import { chargeEffects, type DifferenceFilter, reconciliationKinds } from '../../ledger/billing/reconcile.ts';
import { countryOf, expectedCountry } from '../../platform/countries.ts';
import { addMonths, monthAfter } from '../../platform/months.ts';
import { localTime, timeZone } from '../../platform/scalars.ts';
import { parsePayer } from '../../report/billing/billing-words.ts';
import { type Html, html } from '../../report/html/html.ts';
import { plainText } from '../../report/questions.ts';
import { formatLocal } from '../../report/time.ts';
import { type Fields, linesIn, problemsOf, textIn, textsIn, wordIn } from '../base/fields.ts';
import type { View } from '../base/view.ts';
import { linesField, textField, zoneField } from '../parts/form-fields.ts';

export type AskedInvoice = {
  readonly period: ReconciliationPeriod;
  readonly scope: Omit<ReconciliationScope, 'visibleAccounts'>;
  readonly reading: Pick<InvoiceReading, 'columns' | 'decimal' | 'country' | 'skipLines'>;
  readonly skipUnreadable: boolean;
  /** Of the differences. What cannot be asked is left out. */
  readonly filter: DifferenceFilter;
};

const schema = z
  .strictObject({
    from: z.union([z.literal(''), localTime]),
    to: z.union([z.literal(''), localTime]),
    timeZone,
    decimal: z.enum(['point', 'comma']),
    country: z.string().transform((text, problem) => {
      const country = text === '' ? '' : countryOf(text);
      if (country !== undefined) return country;
      problem.addIssue({ code: 'custom', message: expectedCountry(text) });
      return z.NEVER;
    }),
    skipLines: z.string().regex(/^\d{1,4}$/, 'expected a number of lines'),
    channels: z.array(z.enum(channels)),
  })
  .refine(({ from, to }) => from === '' || to === '' || from < to, {
    path: ['to'],
    error: 'expected a time after the start.',
  });

/** How a person wants an invoice to be read and compared, as typed. */
type InvoiceQuestion = ReturnType<typeof readFields>;

/** Without a period, the invoice is of the month before the current one. */
function readFields(fields: Fields, { zone, now }: Pick<View, 'zone' | 'now'>) {
  const isGiven = fields['from'] !== undefined || fields['to'] !== undefined;
  const month = addMonths(formatLocal(now, zone).slice(0, 7), -1);
  return {
    from: isGiven ? textIn(fields, 'from') : month,
    to: isGiven ? textIn(fields, 'to') : monthAfter(month),
    timeZone: textIn(fields, 'timeZone') || zone,
    decimal: textIn(fields, 'decimal') || 'point',
    country: textIn(fields, 'country'),
    skipLines: textIn(fields, 'skipLines') || '0',
    skipUnreadable: textIn(fields, 'skipUnreadable') === 'yes',
    columns: {
      MessageID: textIn(fields, 'MessageID'),
      Destination: textIn(fields, 'Destination'),
      Price: textIn(fields, 'Price'),
      Units: textIn(fields, 'Units'),
      Date: textIn(fields, 'Date'),
    },
    accounts: linesIn(fields, 'account'),
    subAccounts: linesIn(fields, 'subAccount'),
    channels: textsIn(fields, 'channel'),
  };
}

/** Reads the fields of the form. `asked` is undefined if they have problems. */
export function readInvoiceQuestion(
  fields: Fields,
  viewer: Pick<View, 'zone' | 'now'>,
): {
  readonly question: InvoiceQuestion;
  readonly asked: AskedInvoice | undefined;
  readonly problems: Problems;
} {
  const question = readFields(fields, viewer);
  const { skipUnreadable, columns, accounts, subAccounts, ...checked } = question;
  const parsed = schema.safeParse(checked);
  if (!parsed.success) return { question, asked: undefined, problems: problemsOf(parsed.error) };
  const { from, to, timeZone: wantedZone, decimal, country, skipLines, channels: only } = parsed.data;
  const asked: AskedInvoice = {
    period: { from: from || null, until: to || null, timeZone: wantedZone },
    scope: {
      accounts: accounts.length > 0 ? accounts : null,
      subAccounts: subAccounts.length > 0 ? subAccounts.map(parsePayer) : null,
      channels: only.length > 0 ? only : null,
    },
    reading: {
      columns: Object.fromEntries(
        invoiceFields.flatMap((field) => (columns[field] === '' ? [] : [[field, columns[field]] as const])),
      ),
      decimal,
      country: country || undefined,
      skipLines: Number(skipLines),
    },
    skipUnreadable,
    filter: {
      kind: wordIn(fields, 'finding', reconciliationKinds),
      effect: wordIn(fields, 'means', chargeEffects),
      text: plainText(200).safeParse(textIn(fields, 'find')).data || undefined,
    },
  };
  return { question, asked, problems: {} };
}

export const skipLabel = 'Skip lines that cannot be read';

type Problems = Readonly<Record<string, string>>;

export function invoiceFieldsets(question: InvoiceQuestion, problems: Problems): Html {
  const { from, to, timeZone, decimal, country, skipLines, skipUnreadable, columns } = question;
  const field = (name: string, label: string, value: string, hint: string): Html =>
    textField({ name, label, value, hint, problem: problems[name] });
  return html`<fieldset><legend>The period of the invoice</legend><div class="filter">
${field('from', 'Sent from', from, 'such as 2026-11 or 2026-11-01')}
${field('to', 'Sent before', to, 'empty: until now')}
${zoneField(timeZone, problems['timeZone'])}
</div></fieldset>
<details${Object.keys(problems).some((name) => reading.includes(name)) && html` open`}>
<summary>How the file is written</summary>
<fieldset><legend>Decimal sign</legend>
${radio('decimal', 'point', '1234.50', decimal)}
${radio('decimal', 'comma', '1234,50', decimal)}
</fieldset>
${field('country', 'Country', country, 'of numbers without a country code, such as NZ')}
${field('skipLines', 'Lines before the header', skipLines, 'usually 0')}
<div class="field"><label><input type="checkbox" name="skipUnreadable" value="yes"${skipUnreadable && html` checked`}> ${skipLabel}</label></div>
<fieldset><legend>Columns, where their names are unusual</legend>
${invoiceFields.map((name) => field(name, `Column of ${name}`, columns[name], ''))}
</fieldset>
</details>
<details${question.accounts.length + question.subAccounts.length + question.channels.length > 0 && html` open`}>
<summary>Whom the invoice is for</summary>
<p class="hint">Recipients of others are not missing in it. Empty: for all.</p>
${linesField({ name: 'account', label: 'Accounts, one on each line', values: question.accounts })}
${linesField({ name: 'subAccount', label: 'SubAccounts, one on each line, or (none)', values: question.subAccounts })}
<fieldset><legend>Channels</legend>
${channels.map((channel) => html`<label><input type="checkbox" name="channel" value="${channel}"${question.channels.includes(channel) && html` checked`}> ${channel}</label> `)}
</fieldset>
</details>`;
}

const reading = ['decimal', 'country', 'skipLines', ...invoiceFields] as readonly string[];

function radio(name: string, value: string, label: string, chosen: string): Html {
  return html`<label><input type="radio" name="${name}" value="${value}"${value === chosen && html` checked`}> ${label}</label> `;
}
