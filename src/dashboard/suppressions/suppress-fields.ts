import { channels } from '../../domain/message.ts';
import { maxSubAccountLength } from '../../domain/suppressions.ts';
import { channelsOf } from '../../engine/suppressions/own-suppressions.ts';
import { type Html, html } from '../../report/html/html.ts';
import type { FormFields } from '../base/actions.ts';
import { choiceField, textField } from '../parts/form-fields.ts';
import { countryField } from '../recipients/search-form.ts';

type SuppressQuestion = {
  readonly address: string;
  /** As they were sent, if they were. */
  readonly fields: FormFields;
  readonly names: readonly string[];
  /** Whether the person may suppress for all accounts. */
  readonly mayAll: boolean;
};

/** The fields besides the reason. */
export function suppressFields({ address, fields, names, mayAll }: SuppressQuestion): Html {
  const wasSent = fields['address'] !== undefined;
  const offered = address === '' || wasSent ? channels : channelsOf(address);
  const isChosen = (channel: string): boolean =>
    wasSent ? fields[`channel-${channel}`] !== undefined : address !== '';
  return html`<p>It concerns one person. No run sends to the address any more; where a request was sent already, nothing changes.</p>
${textField({
  name: 'address',
  label: 'Phone number or e-mail address',
  value: address,
  attributes: html`required maxlength="320" autocomplete="off" spellcheck="false" autocapitalize="off" dir="auto"`,
})}
${countryField(fields['country'])}
<fieldset><legend>Channels</legend>
${offered.map(
  (channel) =>
    html`<label class="choose"><input type="checkbox" name="channel-${channel}"${isChosen(channel) && html` checked`}> ${channel}</label>
`,
)}</fieldset>
${choiceField({
  name: 'account',
  label: 'Account',
  values: names,
  chosen: fields['account'],
  none: mayAll ? 'all accounts' : undefined,
})}
${textField({
  name: 'subAccount',
  label: 'SubAccount',
  value: fields['subAccount'],
  hint: 'Empty: all SubAccounts',
  attributes: html`maxlength="${maxSubAccountLength}" autocomplete="off" dir="auto"`,
})}`;
}
