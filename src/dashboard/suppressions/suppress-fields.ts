import { channels } from '../../domain/message.ts';
import { maxSubAccountLength } from '../../domain/suppressions.ts';
import { channelsOf } from '../../engine/suppressions/own-suppressions.ts';
import { type Html, html } from '../../report/html/html.ts';
import type { FormFields } from '../base/actions.ts';
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
<div class="field"><label for="address">Phone number or e-mail address</label>
<input id="address" name="address" required maxlength="320" value="${address}" autocomplete="off" spellcheck="false" autocapitalize="off" dir="auto"></div>
${countryField(fields['country'])}
<fieldset><legend>Channels</legend>
${offered.map(
  (channel) =>
    html`<label class="choose"><input type="checkbox" name="channel-${channel}"${isChosen(channel) && html` checked`}> ${channel}</label>
`,
)}</fieldset>
<div class="field"><label for="account">Account</label>
<select id="account" name="account">${mayAll && html`<option value="">all accounts</option>`}${names.map(
    (name) => html`<option value="${name}"${name === fields['account'] && html` selected`}>${name}</option>`,
  )}</select></div>
<div class="field"><label for="subAccount">SubAccount</label>
<span class="hint" id="subAccount-hint">Empty: all SubAccounts</span>
<input id="subAccount" name="subAccount" maxlength="${maxSubAccountLength}" value="${fields['subAccount']}" autocomplete="off" aria-describedby="subAccount-hint" dir="auto"></div>`;
}
