import { type Channel, channels } from '../../domain/message.ts';
import { maxSubAccountLength } from '../../domain/suppressions.ts';
import type { Settings } from '../../engine/settings.ts';
import {
  createSuppressedAddressReader,
  readAddresses,
} from '../../engine/suppressions/import-suppressions.ts';
import {
  channelsOf,
  findOwnAccounts,
  listSuppressionsOfAddress,
  type OwnAccounts,
} from '../../engine/suppressions/own-suppressions.ts';
import {
  requireSuppressionAccount,
  suppressAddresses,
  unsuppressAddresses,
} from '../../engine/suppressions/suppress-addresses.ts';
import type { PagedSuppression } from '../../ledger/suppressions/list.ts';
import type { SuppressionKey } from '../../ledger/suppressions/remove.ts';
import { count } from '../../platform/sentence.ts';
import { longText } from '../../report/html/cells.ts';
import { type Html, html } from '../../report/html/html.ts';
import { ProblemError } from '../../server/api/problem.ts';
import type { FormFields } from '../base/actions.ts';
import { textIn, wordIn } from '../base/fields.ts';
import { refuse } from '../base/problems.ts';
import type { Tools } from '../base/tools.ts';
import { type Asked, notFound, type View } from '../base/view.ts';
import { choiceField, textField } from '../parts/form-fields.ts';
import { recipientPath } from '../paths.ts';
import { countryField } from '../recipients/recipients-page.ts';
import { addSuppressionsPage, mayRemove } from './suppressions-page.ts';

const allSuppressions = { href: '/suppressions', text: 'Suppressions' };

export function addSuppressionsPages(tools: Tools): void {
  addSuppressionsPage(tools);
  addSuppress(tools);
  addUnsuppress(tools);
}

/** Suppressing needs the scope `run`: it only keeps people from being sent to. */
function addSuppress({ addAction, campaignSource: { settings } }: Tools): void {
  addAction({
    path: '/suppressions/add',
    scope: 'run',
    ask: async (view, { query }, fields) => {
      const own = await findOwnAccounts(settings, view.session.accounts);
      const address = fields['address'] ?? textIn(query, 'address');
      return {
        title: 'Suppress an address',
        body: suppressFields(address, fields, own),
        button: 'Suppress',
        within: address === '' ? allSuppressions : { href: recipientPath(address), text: 'The recipient' },
      };
    },
    act: async (view, _asked, { reason = '', ...fields }) => {
      const keys = await readKeys(view, settings, fields);
      const added = await suppressAddresses(view.context, keys, reason);
      const already = keys.length - added;
      const before = already > 0 ? ` ${already} of ${keys.length} channels were suppressed before.` : '';
      return {
        to: recipientPath(keys[0]?.address ?? ''),
        notice: `The address was suppressed in ${count(added, 'channel')}.${before}`,
      };
    },
  });
}

async function readKeys(view: View, settings: Settings, fields: FormFields): Promise<SuppressionKey[]> {
  const { address = '', country = '', account = '', subAccount = '' } = fields;
  const chosen = channels.filter((channel) => fields[`channel-${channel}`] !== undefined);
  if (chosen.length === 0) refuse('channel', 'Choose at least one channel.');
  requireFitting(address, chosen);
  if (subAccount.length > maxSubAccountLength) {
    const what = `A SubAccount has at most ${maxSubAccountLength} characters.`;
    refuse('subAccount', what);
  }
  const { accounts } = view.session;
  if (accounts && !accounts.includes(account)) {
    const what = `Choose an account. Your token is for ${accounts.join(', ')}.`;
    refuse('account', what);
  }
  const source = await requireSuppressionAccount(account === '' ? undefined : account, settings);
  const home = country.trim() === '' ? undefined : country.trim().toUpperCase();
  const read = createSuppressedAddressReader(chosen, home, 'no country is chosen');
  return readAddresses([address.trim()], read).flatMap((normalised) =>
    chosen.map((channel) => ({
      channel,
      address: normalised,
      account: source,
      subAccount: subAccount.trim(),
    })),
  );
}

/** @throws InputError for a channel whose addresses are of the other kind */
function requireFitting(address: string, chosen: readonly Channel[]): void {
  const isEmail = address.includes('@');
  const unfit = chosen.filter((channel) => (channel === 'email') !== isEmail);
  if (unfit.length === 0) return;
  const what = isEmail
    ? 'An e-mail address is suppressed in the channel email only.'
    : 'A phone number cannot be suppressed in the channel email.';
  refuse('channel', what);
}

/** Needs the scope `admin`, because the person may have asked to be suppressed. */
function addUnsuppress({ addAction, campaignSource: { settings } }: Tools): void {
  addAction({
    path: '/suppressions/remove',
    scope: 'admin',
    ask: async (view, { query }) => {
      const { channel, address, account, subAccount, reason } = await requireRemovable(view, settings, query);
      const scope = [
        `channel ${channel}`,
        account === '' ? 'all accounts' : `account ${account}`,
        subAccount === '' ? 'all SubAccounts' : `SubAccount ${subAccount}`,
      ].join(', ');
      return {
        title: 'Unsuppress an address',
        body: html`<p>Runs may send to <strong><bdi>${address}</bdi></strong> again (${scope}). It concerns one person.</p>
${reason !== '' && html`<div>It was suppressed because: ${longText(reason)}</div>`}
<p>Earlier replies and delivery reports do not suppress it again; new ones do.</p>`,
        button: 'Unsuppress',
        within: { href: recipientPath(address), text: 'The recipient' },
      };
    },
    act: async (view, { query }, { reason = '' }) => {
      const { channel, address, account, subAccount } = await requireRemovable(view, settings, query);
      const keys = [{ channel, address, account, subAccount }];
      const { removed } = await unsuppressAddresses(view.context, keys, reason);
      const notice =
        removed.length > 0
          ? `The address is no longer suppressed for ${channel}.`
          : 'The address was unsuppressed by another person just before.';
      return { to: recipientPath(address), notice };
    },
  });
}

/** @throws ProblemError when there is none, or it is not for this person */
async function requireRemovable(
  view: View,
  settings: Settings,
  query: Asked['query'],
): Promise<PagedSuppression> {
  const own = await findOwnAccounts(settings, view.session.accounts);
  const channel = wordIn(query, 'channel', channels);
  const [account, subAccount] = [textIn(query, 'account'), textIn(query, 'subAccount')];
  const ofAddress = await listSuppressionsOfAddress(view.context, textIn(query, 'address'), own);
  const found = ofAddress.find(
    (each) => each.channel === channel && each.account === account && each.subAccount === subAccount,
  );
  if (!found) return notFound('There is no such suppression any more. The page of the recipient shows all.');
  if (mayRemove(view, own, found)) return found;
  const what = 'It is of other accounts too, and your token is for some. Ask a person with a token for all.';
  throw new ProblemError(403, 'scope', what);
}

/** @param address of the form that was sent, or of the address of the page */
function suppressFields(address: string, fields: FormFields, { names, sources }: OwnAccounts): Html {
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
  none: sources === null ? 'all accounts' : undefined,
})}
${textField({
  name: 'subAccount',
  label: 'SubAccount',
  value: fields['subAccount'],
  hint: 'Empty: all SubAccounts',
  attributes: html`maxlength="${maxSubAccountLength}" autocomplete="off" dir="auto"`,
})}`;
}
