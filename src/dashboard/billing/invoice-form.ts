import { invoiceFields } from '../../contacts/invoice-file.ts';
import { channels } from '../../domain/message.ts';
import { type Html, html } from '../../report/html/html.ts';
import { textField } from '../parts/form-fields.ts';
import type { InvoiceQuestion } from './invoice-question.ts';

type Problems = Readonly<Record<string, string>>;

/** The fields of an invoice, without its file. */
export function invoiceFieldsets(question: InvoiceQuestion, problems: Problems): Html {
  const { from, to, timeZone, decimal, country, skipLines, skipUnreadable, columns } = question;
  const field = (name: string, label: string, value: string, hint: string): Html =>
    textField({ name, label, value, hint, problem: problems[name] });
  return html`<fieldset><legend>The period of the invoice</legend><div class="filter">
${field('from', 'Sent from', from, 'such as 2026-11 or 2026-11-01')}
${field('to', 'Sent before', to, 'empty: until now')}
${field('timeZone', 'Time zone', timeZone, 'such as Pacific/Auckland')}
</div></fieldset>
<details${Object.keys(problems).some((name) => reading.includes(name)) && html` open`}>
<summary>How the file is written</summary>
<fieldset><legend>Decimal sign</legend>
${radio('decimal', 'point', '1234.50', decimal)}
${radio('decimal', 'comma', '1234,50', decimal)}
</fieldset>
${field('country', 'Country', country, 'of numbers without a country code, such as NZ')}
${field('skipLines', 'Lines before the header', skipLines, 'usually 0')}
<div class="field"><label><input type="checkbox" name="skipUnreadable" value="yes"${skipUnreadable && html` checked`}> Skip lines that cannot be read</label></div>
<fieldset><legend>Columns, where their names are unusual</legend>
${invoiceFields.map((name) => field(name, `Column of ${name}`, columns[name], ''))}
</fieldset>
</details>
<details${question.accounts.length + question.subAccounts.length + question.channels.length > 0 && html` open`}>
<summary>Whom the invoice is for</summary>
<p class="hint">Recipients of others are not missing in it. Empty: for all.</p>
${linesField('account', 'Accounts, one on each line', question.accounts, problems['account'])}
${linesField('subAccount', 'SubAccounts, one on each line, or (none)', question.subAccounts, problems['subAccount'])}
<fieldset><legend>Channels</legend>
${channels.map((channel) => html`<label><input type="checkbox" name="channel" value="${channel}"${question.channels.includes(channel) && html` checked`}> ${channel}</label> `)}
</fieldset>
</details>`;
}

const reading = ['decimal', 'country', 'skipLines', ...invoiceFields] as readonly string[];

function linesField(
  name: string,
  label: string,
  values: readonly string[],
  problem: string | undefined,
): Html {
  return html`<div class="field">
<label for="${name}">${label}</label>
${problem && html`<span class="error" id="${name}-error">${problem}</span>`}
<textarea id="${name}" name="${name}" rows="3"${problem && html` aria-describedby="${name}-error" aria-invalid="true"`}>${values.join('\n')}</textarea>
</div>`;
}

function radio(name: string, value: string, label: string, chosen: string): Html {
  return html`<label><input type="radio" name="${name}" value="${value}"${value === chosen && html` checked`}> ${label}</label> `;
}
